#include <fmt/format.h>

#include <utility>

#include "author/text/cpu/kernel.h"

namespace passnet::author {

namespace {

/// Rows, or steps, beside each other from which it pays.
constexpr int64_t kLeastBeside = 4;

}  // namespace

/// Loads that are looked at whatever is chosen, whose elements lie apart along the loop of the lanes: along a row, beside those of
/// the next rows, or, where lanes are items, beside those of the same item's next steps.
std::vector<ExprId> CpuKernel::loads_to_turn() {
  if (!vectors_ || part_.is_split() || kernel_.items.empty() || kernel_.row.size() != 1) return {};
  const Loop &row = kernel_.row.back(), &item = kernel_.items.back();
  const bool are_items = kernel_.lanes == Lanes::Items;
  const Loop &lane = are_items ? item : row, &beside = are_items ? row : item;
  if (sizes_.smallest(beside.extent) < kLeastBeside) return {};
  std::vector<ExprId> loads;
  for (const ExprId id : loads_of(part_.roots, true)) {
    const Expr load = exprs_.at(id);
    const Access from = access_in(definitions_, load.tensor, load.places);
    if (load.compute == Compute::Float && jumps(sizes_, from, lane.variable) &&
        !from.irregular.contains(lane.variable) && moves_by_one(sizes_, from, beside.variable))
      loads.push_back(id);
  }
  const int64_t steps = sizes_.largest(row.extent) * static_cast<int64_t>(loads.size());
  return steps <= kMostInLanes ? loads : std::vector<ExprId>();
}

/// Turns as many rows that lie beside each other as there are lanes, each in one piece for its own loops: two loops are
/// open then.
void CpuKernel::open_turned_rows(const std::vector<ExprId>& loads) {
  const Loop &row = kernel_.row.back(), &beside = kernel_.items.back();
  const std::vector<Loop> outer(kernel_.items.begin(), kernel_.items.end() - 1);
  const std::string& own = variables_[beside.variable];
  const std::string width = extent_text(row), height = extent_text(beside);
  line("// Neighbours in memory are of rows beside each other: these are turned together.");
  open("for (int64_t next = first, rows = 0; next < last; next += rows)");
  if (!outer.empty()) decode(outer, fmt::format("next / {}", height));
  line(fmt::format("const int64_t top = {};", outer.empty() ? "next" : fmt::format("next % {}", height)));
  line(fmt::format("rows = {0} - top < last - next ? {0} - top : last - next;", height));
  line("if (rows > kLanes) rows = kLanes;");
  const std::string name = std::exchange(variables_[beside.variable], "top");
  const std::optional<Loop> lane = std::exchange(lane_, row);
  for (const ExprId id : loads) {
    const Expr& load = exprs_.at(id);
    const Access from = access_in(definitions_, load.tensor, load.places);
    turned_[id] = array_name(id, "turned");
    declare_array(turned_[id], {row}, true);
    line(fmt::format("turn_rows({} + {}, {}, {}, rows, {});", name_of(load.tensor), offset_text(from, ""),
                     sizes_.kernel_text(from.steps.at(row.variable)), width, turned_[id]));
  }
  lane_ = lane;
  variables_[beside.variable] = name;
  open("for (int64_t turn = 0; turn < rows; ++turn)");
  line(fmt::format("const int64_t {} = top + turn;", own));
}

/// Turns the lanes' loads before the loops that look at them, where neighbours in memory are steps of an item's loop,
/// not items beside each other.
void CpuKernel::turn_items() {
  const std::vector<ExprId> loads = loads_to_turn();
  if (loads.empty()) return;
  line("// Neighbours in memory are steps of one item: those of items beside each other are turned together.");
  const Loop& row = kernel_.row.back();
  const std::string width = extent_text(row);
  for (const ExprId id : loads) {
    const Expr& load = exprs_.at(id);
    const Access from = access_in(definitions_, load.tensor, load.places);
    const std::string name = turned_[id] = array_name(id, "turned"),
                      step = sizes_.kernel_text(from.steps.at(lane_->variable));
    const std::string own = std::exchange(variables_[row.variable], "");
    const std::string place = fmt::format("{} + {}", name_of(load.tensor), offset_text(from, "i"));
    variables_[row.variable] = own;
    declare_array(name, {row}, true);
    open(fmt::format("for (int64_t at = 0; at < {}; at += kLanes)", width));
    line(fmt::format("turn_rows({0} + at, {1}, lanes, {2} - at < kLanes ? {2} - at : kLanes, {3} + at * lanes);", place,
                     step, width, name));
    close();
  }
}

/// Turns the neighbours that a tile reads across it, before its rows are computed.
void CpuKernel::turn_tile() {
  if (!vectors_) return;
  const Loop& across = facts_.tile->across;
  const std::string own = std::exchange(variables_[across.variable], "top");
  for (const ExprId id : facts_.tile->loads) {
    const Expr& load = exprs_.at(id);
    if (load.compute != Compute::Float) continue;
    const Access from = access_in(definitions_, load.tensor, load.places);
    const std::string name = turned_[id] = array_name(id, "turned");
    line(fmt::format("float {}[{} * {}];", name, kTile, kTile));
    line(fmt::format("turn_tile({}, stop - start, bottom - top, {});", along_lane(load.tensor, from, "start"), name));
  }
  variables_[across.variable] = own;
}

/// Returns the begin of the lanes of a load that was turned; nullopt: it was not, or these are the lanes of other
/// loops.
std::optional<std::string> CpuKernel::turned_text(ExprId id) {
  const auto found = turned_.find(id);
  if (found == turned_.end()) return std::nullopt;
  if (facts_.tile)
    return fmt::format("load({} + ({} - top) * (stop - start) + i - start, lanes)", found->second,
                       variables_[facts_.tile->across.variable]);
  const VariableId row = kernel_.row.back().variable;
  if (kernel_.lanes == Lanes::Items) return fmt::format("load({} + {} * lanes, lanes)", found->second, variables_[row]);
  if (lane_->variable != row) return std::nullopt;
  return fmt::format("load({} + turn * {} + i, lanes)", found->second, extent_text(kernel_.row.back()));
}

}  // namespace passnet::author
