#include <fmt/format.h>
#include <fmt/ranges.h>

#include "author/text/cpu/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

/// Steps of the loops that a copy is for, for any graph: by steps of 2 in both directions it is four times as large.
constexpr int64_t kMostPlaces = 16384;

std::string times(const std::string& text, SizeId step, const SizeTable& sizes) {
  return sizes.is_one(step) ? text : fmt::format("{} * {}", text, sizes.kernel_text(step));
}

}  // namespace

/// "(WIDTH - 1) * 2 + (HEIGHT - 1) + 1": from the first place that is looked at to the last.
std::string CpuKernel::length_text(const PictureAxis& axis) {
  std::vector<std::string> parts;
  for (const auto& [variable, step] : axis.at.steps)
    parts.push_back(
        times(fmt::format("({} - 1)", sizes_.kernel_text(axis_steps(indices_, kernel_, variable))), step, sizes_));
  return fmt::format("{} + 1", fmt::join(parts, " + "));
}

/// Returns the places of lanes, rows and windows, from the first place that is looked at.
std::string CpuKernel::place_text(const PictureAxis& axis) {
  std::vector<std::string> parts;
  for (const auto& [variable, step] : axis.at.steps) parts.push_back(times(variables_[variable], step, sizes_));
  return fmt::format("{}", fmt::join(parts, " + "));
}

/// "(at_batch * CHANNELS + at_channels)"; empty: of no loops.
std::string CpuKernel::step_number(const std::vector<Loop>& loops) {
  std::string number;
  for (const Loop& loop : loops)
    number = number.empty() ? variables_[loop.variable]
                            : fmt::format("({} * {} + {})", number, extent_text(loop), variables_[loop.variable]);
  return number;
}

/// Returns the begin of a row. down: its number in the picture; empty: there is one.
std::string CpuKernel::row_text(const PaddedCopy& copy, const std::string& down) {
  std::string row = step_number(copy.padded.folds);
  if (!down.empty()) row = row.empty() ? down : fmt::format("({} * {} + {})", row, copy.height, down);
  return row.empty() ? copy.name : fmt::format("{} + {} * {}", copy.name, row, copy.length);
}

/// Room for what windows look at.
void CpuKernel::declare_padded() {
  for (const Padded& padded : vectors_ ? padded_in(definitions_, kernel_) : std::vector<Padded>()) {
    if (padded_.empty())
      line("// What windows look at, with what lies beside it: copied once for all places that share it.");
    const std::string name = array_name(exprs_.at(padded.guard).parts[1], "padded");
    PaddedCopy copy{padded, name, fresh(name + "_length"), padded.down ? fresh(name + "_height") : ""};
    line(fmt::format("constexpr int64_t {} = {};", copy.length, length_text(padded.along)));
    if (padded.down) line(fmt::format("constexpr int64_t {} = {};", copy.height, length_text(*padded.down)));
    std::string floats = padded.down ? fmt::format("{} * {}", copy.height, copy.length) : copy.length;
    if (!padded.folds.empty()) floats = fmt::format("{} * {}", product_text(padded.folds), floats);
    line(fmt::format("float {}[{}];", copy.name, floats));
    std::vector<Loop> loops = padded.folds;
    if (padded.down) loops.push_back(kernel_.items[kernel_.items.size() - 2]);
    loops.push_back(kernel_.items.back());
    require_room(loops, kMostPlaces);
    line(fmt::format("int64_t {}_of = -1;", copy.name));
    padded_.emplace(padded.guard, std::move(copy));
  }
}

void CpuKernel::copy_padded() {
  for (const auto& [guard, copy] : padded_) {
    const std::string items = step_number(copy.padded.items), own = items.empty() ? "0" : items;
    open(fmt::format("if ({}_of != {})", copy.name, own));
    line(fmt::format("{}_of = {};", copy.name, own));
    copy_rows(copy);
    close();
  }
}

void CpuKernel::copy_rows(const PaddedCopy& copy) {
  const Padded& padded = copy.padded;
  const Expr guard = exprs_.at(padded.guard), load = exprs_.at(guard.parts[1]);
  const OtherLoops other(*this);
  const Scoped scope(*this);
  for (const Loop& loop : padded.folds) variables_[loop.variable] = fresh("k");
  // From the first place: there their loops are at 0.
  for (const auto& [variable, step] : padded.along.at.steps) variables_[variable] = "";
  if (padded.down) {
    for (const auto& [variable, step] : padded.down->at.steps) variables_[variable] = "";
  }
  open_loops(padded.folds);
  std::vector<std::string> inside;
  for (const ExprId one : padded.conditions) inside.push_back(value(one));
  std::string row, from = offset_text(access_in(definitions_, load.tensor, load.places), "");
  if (padded.down) {
    row = fresh("row");
    const std::string first = offset_text(padded.down->at, "");
    const std::string at = first.starts_with('-') ? fmt::format("{} - {}", row, first.substr(1)) : row + " + " + first;
    open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", row, copy.height));
    inside.push_back(fmt::format("{0} >= 0 && {0} < {1}", at, sizes_.kernel_text(padded.down->extent)));
    from += " + " + times(row, padded.down->stride, sizes_);
  }
  std::string extent = sizes_.kernel_text(padded.along.extent);
  if (!inside.empty()) extent = fmt::format("{} ? {} : 0", fmt::join(inside, " && "), extent);
  line(fmt::format("pad_row({} + {}, {}, {}, {}, {}, {});", name_of(load.tensor), from,
                   offset_text(padded.along.at, ""), extent, copy.length, number_text(exprs_.at(guard.parts[2])),
                   row_text(copy, row)));
  if (padded.down) close();
  close_all(padded.folds);
}

/// The lanes of a load that was copied; nullopt: it was not, or these are not the lanes that it was copied for.
std::optional<std::string> CpuKernel::padded_text(ExprId guard) {
  if (!is_vector(guard)) return std::nullopt;
  if (planes_) {
    const auto found = planes_->padded.find(guard);
    if (found == planes_->padded.end()) return std::nullopt;
    const PaddedCopy& copy = found->second;
    return fmt::format("load({} + (({}) * {} + {}) * lanes, lanes)", copy.name, place_text(*copy.padded.down),
                       copy.length, place_text(copy.padded.along));
  }
  const auto found = padded_.find(guard);
  if (found == padded_.end()) return std::nullopt;
  const PaddedCopy& copy = found->second;
  const Padded& padded = copy.padded;
  const std::string down = padded.down ? fmt::format("({})", place_text(*padded.down)) : "";
  const bool every_other = !sizes_.is_one(padded.along.at.steps.at(lane_->variable));
  return fmt::format("load{}({} + {}, lanes)", every_other ? "_every_other" : "", row_text(copy, down),
                     place_text(padded.along));
}

}  // namespace passnet::author
