#include "author/fuse/padded.h"

#include <algorithm>
#include <set>
#include <utility>

#include "author/fuse/edge.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Floats of all copies together.
constexpr int64_t kMostPadded = 8192;

class Finder {
 public:
  Finder(Definitions& definitions, const FusedKernel& kernel)
      : definitions_(definitions),
        kernel_(kernel),
        exprs_(definitions.exprs()),
        indices_(exprs_.indices()),
        sizes_(definitions.sizes()),
        lane_(kernel.items.back()),
        outer_(kernel.items[kernel.items.size() - 2]) {
    for (const Store& store : kernel.stores) collect(store.value);
  }

  std::vector<Padded> run() {
    std::vector<Padded> all;
    int64_t floats = 0;
    for (const ExprId guard : guards_) {
      std::optional<Padded> one = padded_of(guard);
      if (!one || floats + most_floats(*one) > kMostPadded) continue;
      floats += most_floats(*one);
      all.push_back(std::move(*one));
    }
    return all;
  }

 private:
  /// A value that only one choice looks at may not be there otherwise.
  void collect(ExprId id) {
    if (!met_.insert(id).second) return;
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Guard) {
      guards_.push_back(id);
      return collect(expr.parts[0]);
    }
    if (expr.kind == Kind::Reduce) folded_.insert(expr.variables.begin(), expr.variables.end());
    exprs_.for_each_part(id, [&](ExprId part) { collect(part); });
  }

  std::optional<Padded> padded_of(ExprId guard) {
    const std::optional<Edge> edge = edge_of(exprs_, guard, lane_.variable);
    if (!edge || (!sizes_.is_one(edge->step) && !sizes_.is_constant(edge->step, 2))) return std::nullopt;
    const Expr load = exprs_.at(exprs_.at(guard).parts[1]);
    if (exprs_.at(guard).compute != Compute::Float || load.kind != Kind::Load ||
        exprs_.at(exprs_.at(guard).parts[2]).kind != Kind::Number)
      return std::nullopt;
    const Access from = access_in(definitions_, load.tensor, load.places);
    Padded padded;
    padded.guard = guard;
    padded.along = {edge->inside.at, edge->inside.extent, sizes_.one()};
    if (!goes_along(padded.along, lane_.variable, from) || fewest_places(padded.along) < 2) return std::nullopt;
    for (const ExprId other : edge->others) {
      std::optional<PictureAxis> axis = padded.down ? std::nullopt : axis_of(other, from);
      if (axis)
        padded.down = std::move(axis);
      else
        padded.conditions.push_back(other);
    }
    add_loops(padded);
    // A window that goes down the rows without being asked whether it is inside would be copied for each of them.
    const bool anew_for_each_row = !padded.down && exprs_.free_variables(guard).contains(outer_.variable);
    return anew_for_each_row && !padded.folds.empty() ? std::nullopt : std::optional(std::move(padded));
  }

  /// Tells whether the load goes as far as the axis says, and along it with this loop and those of windows alone.
  bool goes_along(const PictureAxis& axis, VariableId own, const Access& from) {
    return std::ranges::all_of(axis.at.steps, [&](const auto& one) {
      const auto& [variable, step] = one;
      const auto in_memory = from.steps.find(variable);
      return (variable == own || folded_.contains(variable)) && in_memory != from.steps.end() &&
             !from.irregular.contains(variable) && !axis.at.irregular.contains(variable) &&
             sizes_.values(in_memory->second) == sizes_.values(sizes_.product(axis.stride, step));
    });
  }

  /// Returns the number of places on the axis of which a lane takes one at least.
  int64_t fewest_places(const PictureAxis& axis) const {
    int64_t places = 1;
    for (const auto& [variable, step] : axis.at.steps)
      places *= variable == lane_.variable ? 1 : sizes_.smallest(indices_.extent(variable));
    return places;
  }

  /// nullopt: the condition does not ask whether a row is inside.
  std::optional<PictureAxis> axis_of(ExprId condition, const Access& from) {
    const std::optional<Inside> inside = inside_of(exprs_, condition);
    if (!inside || !inside->at.steps.contains(outer_.variable)) return std::nullopt;
    // A step of one goes as far as from row to row.
    const auto one = std::ranges::find_if(
        inside->at.steps, [&](const auto& of) { return sizes_.is_one(of.second) && from.steps.contains(of.first); });
    if (one == inside->at.steps.end()) return std::nullopt;
    PictureAxis axis{inside->at, inside->extent, from.steps.at(one->first)};
    return goes_along(axis, outer_.variable, from) ? std::optional(std::move(axis)) : std::nullopt;
  }

  void add_loops(Padded& padded) {
    const std::set<VariableId>& free = exprs_.free_variables(padded.guard);
    const auto is_open = [&](VariableId variable) {
      return free.contains(variable) && !padded.along.at.steps.contains(variable) &&
             !(padded.down && padded.down->at.steps.contains(variable));
    };
    for (const VariableId variable : folded_) {
      if (is_open(variable)) padded.folds.push_back({variable, indices_.extent(variable)});
    }
    for (const Loop& loop : kernel_.items) {
      if (is_open(loop.variable)) padded.items.push_back(loop);
    }
  }

  int64_t most_floats(const Padded& padded) const {
    int64_t floats = length(padded.along) * (padded.down ? length(*padded.down) : 1);
    for (const Loop& loop : padded.folds) floats *= sizes_.largest(loop.extent);
    return floats;
  }
  int64_t length(const PictureAxis& axis) const { return most_places(sizes_, indices_, kernel_, axis); }

  Definitions& definitions_;
  const FusedKernel& kernel_;
  ExprTable& exprs_;
  IndexTable& indices_;
  SizeTable& sizes_;
  const Loop lane_, outer_;
  std::set<ExprId> met_;
  std::vector<ExprId> guards_;
  std::set<VariableId> folded_;  // loops of reductions
};

}  // namespace

std::vector<Padded> padded_in(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Items || !kernel.row.empty() || kernel.items.size() < 2) return {};
  return Finder(definitions, kernel).run();
}

SizeId axis_steps(const IndexTable& indices, const FusedKernel& kernel, VariableId variable) {
  const auto loop = std::ranges::find(kernel.items, variable, &Loop::variable);
  return loop != kernel.items.end() ? loop->extent : indices.extent(variable);
}

int64_t most_places(const SizeTable& sizes, const IndexTable& indices, const FusedKernel& kernel,
                    const PictureAxis& axis) {
  int64_t places = 1;
  for (const auto& [variable, step] : axis.at.steps)
    places += (sizes.largest(axis_steps(indices, kernel, variable)) - 1) * sizes.largest(step);
  return places;
}

}  // namespace passnet::author
