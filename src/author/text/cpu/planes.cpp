#include <fmt/format.h>

#include <algorithm>

#include "author/text/cpu/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Channels from which tasks have some, 16 at a time.
constexpr int64_t kLeastChannels = 64;
/// Floats of all that is turned for 16 channels, for any graph of the sample: it stays in a processor's second cache.
constexpr int64_t kMostTurned = 49152;

}  // namespace

/// Windows of pictures with many channels, each of which has its own: all that is read or stored lies as planes of these. nullopt:
/// it does not, or planes are so large that lanes may go along their rows.
std::optional<CpuKernel::Planes> CpuKernel::planes_of() {
  const std::vector<Loop>& items = kernel_.items;
  if (!vectors_ || items.size() < 3 || part_.is_split()) return std::nullopt;
  Planes planes;
  planes.channel = *(items.end() - 3);
  planes.outer = {items.begin(), items.end() - 3};
  planes.inner = {items.end() - 2, items.end()};
  if (sizes_.smallest(planes.channel.extent) < kLeastChannels) return std::nullopt;
  const OtherLoops other(*this);
  lane_ = planes.channel;
  for (const Padded& padded : padded_in(definitions_, kernel_)) {
    if (!is_of_planes(padded, planes)) return std::nullopt;
    planes.padded.emplace(padded.guard, PaddedCopy{padded, "", "", ""});
  }
  if (planes.padded.empty()) return std::nullopt;
  for (const Store* store : part_.stores) {
    if (exprs_.at(store->value).compute != Compute::Float || !is_plane(access_to(*store), planes.inner) ||
        !lies_in_planes(store->value, planes))
      return std::nullopt;
    if (!planes.stored.emplace(store->tensor, "").second) return std::nullopt;
    planes.floats += sizes_.largest(loop_steps(sizes_, planes.inner));
  }
  return planes.floats * kLanes <= kMostTurned ? std::optional(std::move(planes)) : std::nullopt;
}

/// Tells whether it is a part of a whole plane of one channel.
bool CpuKernel::is_of_planes(const Padded& padded, Planes& planes) {
  if (!padded.down || !padded.folds.empty() || !padded.conditions.empty()) return false;
  const auto is_channel = [&](const Loop& loop) { return loop.variable == planes.channel.variable; };
  if (std::ranges::none_of(padded.items, is_channel) || padded.down->stride != padded.along.extent) return false;
  const Expr load = exprs_.at(exprs_.at(padded.guard).parts[1]);
  if (!is_plane(access_in(definitions_, load.tensor, load.places), {})) return false;
  planes.floats += sizes_.largest(padded.along.extent) * sizes_.largest(padded.down->extent);
  planes.floats +=
      most_places(sizes_, indices_, kernel_, padded.along) * most_places(sizes_, indices_, kernel_, *padded.down);
  return true;
}

/// Tells whether channels lie apart, each in one piece for these loops.
bool CpuKernel::is_plane(const Access& access, const std::vector<Loop>& loops) {
  return jumps(sizes_, access, lane_->variable) && !access.irregular.contains(lane_->variable) &&
         lie_in_one_piece(sizes_, access, loops);
}

/// Tells whether all that it takes of channels lies as planes, or is one element of each; those it takes are added to
/// `planes`.
bool CpuKernel::lies_in_planes(ExprId id, Planes& planes) {
  if (!moves_with_lane(id) || planes.padded.contains(id) || planes.turned.contains(id)) return true;
  const Expr expr = exprs_.at(id);
  if (expr.kind == Kind::Load) {
    const Access from = access_in(definitions_, expr.tensor, expr.places);
    if (moves_by_one(sizes_, from, lane_->variable)) return true;
    const std::vector<Loop> loops = loops_in_plane(from, planes);
    if (expr.compute != Compute::Float || !is_plane(from, loops)) return false;
    planes.turned.emplace(id, TurnedPlane{"", loops});
    planes.floats += sizes_.largest(loop_steps(sizes_, loops));
    return true;
  }
  if (expr.kind == Kind::Guard || is_by_lane(id)) return false;
  if (expr.kind == Kind::Reduce) planes.folded.insert(expr.variables.begin(), expr.variables.end());
  bool all = true;
  exprs_.for_each_part(id, [&](ExprId part) { all = all && lies_in_planes(part, planes); });
  return all;
}

/// The loops within a plane, those of windows among them: the last one goes to the neighbour.
std::vector<Loop> CpuKernel::loops_in_plane(const Access& from, const Planes& planes) {
  std::vector<Loop> loops;
  for (const auto& [variable, step] : from.steps) {
    const auto is_it = [&](const Loop& loop) { return loop.variable == variable; };
    if (planes.folded.contains(variable) || std::ranges::any_of(planes.inner, is_it))
      loops.push_back({variable, axis_steps(indices_, kernel_, variable)});
  }
  std::ranges::stable_sort(loops, [&](const Loop& a, const Loop& b) {
    return sizes_.largest(from.steps.at(a.variable)) > sizes_.largest(from.steps.at(b.variable));
  });
  return loops;
}

// A task has 16 channels of a picture at a time: what it reads is turned, and what it makes is turned back.
void CpuKernel::write_planes(Planes planes) {
  const OtherLoops other(*this);
  const std::string width = extent_text(planes.channel), groups = fmt::format("ceil_div({}, int64_t(kLanes))", width);
  const std::string batch = planes.outer.empty() ? "" : product_text(planes.outer) + " * ";
  line("// Rows are short: lanes are channels, whose planes are turned.");
  line(fmt::format("constexpr int64_t groups = {};", groups));
  line(fmt::format("const auto [first, last] = chunk({}groups, 1);", batch));
  open("for (int64_t next = first; next < last; ++next)");
  if (!planes.outer.empty()) line("const int64_t item = next / groups;");
  decode(planes.outer, "item");
  line("const int64_t start = next % groups * kLanes;");
  line(fmt::format("const int64_t stop = start + kLanes < {0} ? start + kLanes : {0};", width));
  variables_[lane_->variable] = fresh("column");
  lane_ = planes.channel;
  variables_[lane_->variable] = "i";
  open("for_blocks(start, stop, [&](int64_t i, int lanes) __attribute__((always_inline))");
  planes_ = std::move(planes);
  turn_what_is_read();
  for (const Store* store : part_.stores)
    declare_planes(planes_->stored[store->tensor] = fresh(name_of(store->tensor) + "_made"), planes_->inner);
  const Scoped scope(*this);
  hoist(variables_of(planes_->inner));
  open_loops(planes_->inner);
  store_all(part_.stores);
  close_all(planes_->inner);
  for (const Store* store : part_.stores) {
    const Access to = access_to(*store);
    line(fmt::format("store_planes({} + {}, {}, {}, lanes, {});", name_of(store->tensor), first_of_plane(to),
                     sizes_.kernel_text(to.steps.at(lane_->variable)), product_text(planes_->inner),
                     planes_->stored.at(store->tensor)));
  }
  close("});");
  close();
}

/// Returns the begin of the first lane's plane, or of the first of its places that windows look at.
std::string CpuKernel::first_of_plane(const Access& access) {
  const OtherLoops other(*this);
  for (const Loop& loop : planes_->inner) variables_[loop.variable] = "";
  for (const VariableId variable : planes_->folded) variables_[variable] = "";
  return offset_text(access, "i");
}

void CpuKernel::declare_planes(const std::string& name, const std::vector<Loop>& loops) {
  line(fmt::format("float {}[{} * kLanes];", name, product_text(loops)));
  require_room(loops, kMostInArray / kLanes);
}

void CpuKernel::turn_what_is_read() {
  for (auto& [id, plane] : planes_->turned) {
    const Expr load = exprs_.at(id);
    const Access from = access_in(definitions_, load.tensor, load.places);
    plane.name = array_name(id, "turned");
    declare_planes(plane.name, plane.loops);
    line(fmt::format("turn_planes({} + {}, {}, {}, lanes, {});", name_of(load.tensor), first_of_plane(from),
                     sizes_.kernel_text(from.steps.at(lane_->variable)), product_text(plane.loops), plane.name));
  }
  for (auto& [guard, copy] : planes_->padded) {
    const Padded& padded = copy.padded;
    const Expr choice = exprs_.at(guard), load = exprs_.at(choice.parts[1]);
    const std::string whole = array_name(choice.parts[1], "turned"), name = array_name(choice.parts[1], "padded");
    copy = {padded, name, fresh(name + "_length"), fresh(name + "_height")};
    line(fmt::format("constexpr int64_t {} = {};", copy.length, length_text(padded.along)));
    line(fmt::format("constexpr int64_t {} = {};", copy.height, length_text(*padded.down)));
    const std::string rows = sizes_.kernel_text(padded.down->extent), columns = sizes_.kernel_text(padded.along.extent);
    line(fmt::format("float {}[{} * {} * kLanes], {}[{} * {} * kLanes];", whole, rows, columns, copy.name, copy.height,
                     copy.length));
    require_room(sizes_.product(padded.down->extent, padded.along.extent), kMostInArray / kLanes);
    const Access from = access_in(definitions_, load.tensor, load.places);
    line(fmt::format("pad_planes({} + {}, {}, {}, {}, {}, {}, {}, {}, {}, lanes, {}, {});", name_of(load.tensor),
                     first_of_plane(from), sizes_.kernel_text(from.steps.at(lane_->variable)), rows, columns,
                     first_of_plane(padded.down->at), first_of_plane(padded.along.at), copy.height, copy.length,
                     number_text(exprs_.at(choice.parts[2])), whole, copy.name));
  }
}

/// The lanes of a load whose planes were turned; nullopt: it is none of these.
std::optional<std::string> CpuKernel::plane_text(ExprId id) {
  if (!planes_ || !planes_->turned.contains(id)) return std::nullopt;
  const TurnedPlane& plane = planes_->turned.at(id);
  return fmt::format("load({} + {} * lanes, lanes)", plane.name, step_number(plane.loops));
}

}  // namespace passnet::author
