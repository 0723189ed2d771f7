// Operators that look at the neighbourhood of a place: pooling, and pictures made larger or smaller.
#include <fmt/format.h>

#include <algorithm>

#include "author/define/definitions.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

/// One number for all dimensions, or one for each.
Result<std::vector<int64_t>> for_each_dimension(std::vector<int64_t> given, size_t dimensions) {
  if (given.size() == 1) given.assign(dimensions, given[0]);
  if (given.size() != dimensions) return unsupported("numbers for other dimensions");
  return given;
}

}  // namespace

Result<bool> Definitions::window(NodeId id, const Arguments& call, std::string_view name) {
  Result<void> done = unsupported("");
  if (name.starts_with("avg_pool") || name.starts_with("max_pool")) {
    done = pool(id, call, name.starts_with("max"));
  } else if (name == "unfold_windows") {
    done = windows_along(id, call);
  } else if (name == "unfold") {
    done = windows_as_columns(id, call);
  } else if (name == "interpolate") {
    done = interpolate(id, call);
  } else {
    return false;
  }
  if (!done) return std::move(done).error();
  return true;
}

Result<void> Definitions::pool(NodeId id, const Arguments& call, bool largest) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float) return unsupported("pooling of another type than float");
  if (largest && call.given("return_indices") && !call.hold("return_indices=False"))
    return unsupported("the largest elements with where they are");
  if (!largest && call.given("divisor_override")) return unsupported("a mean by another number");
  const std::string_view target = graph_.node(id).target;
  const size_t spatial = target.ends_with("1d") ? 1 : target.ends_with("2d") ? 2 : 3;
  const std::vector<SizeId> shape = tensors_[x].shape;
  if (shape.size() < spatial) return unsupported("pooling of too few dimensions");
  const size_t kept = shape.size() - spatial;
  const auto numbers = [&](std::string_view parameter, int64_t otherwise) -> Result<std::vector<int64_t>> {
    if (!call.given(parameter)) return std::vector<int64_t>(spatial, otherwise);
    PASSNET_TRY(std::vector<int64_t> given, call.integers(parameter));
    return for_each_dimension(std::move(given), spatial);
  };
  PASSNET_TRY(const std::vector<int64_t> size, numbers("kernel_size", 0));
  PASSNET_TRY(std::vector<int64_t> step, numbers("stride", 0));
  if (!call.given("stride") || std::ranges::count(step, 0) > 0) step = size;
  PASSNET_TRY(const std::vector<int64_t> padding, numbers("padding", 0));
  std::vector<int64_t> dilation(spatial, 1);
  if (largest) {
    PASSNET_TRY(dilation, numbers("dilation", 1));
  }
  const bool with_padding = largest || call.hold("count_include_pad=True");
  result.shape.assign(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(kept));
  std::vector<bool> guarded(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    PASSNET_TRY(const SizeId extent,
                pooled_size(id, kept + i, shape[kept + i], (size[i] - 1) * dilation[i], step[i], padding[i]));
    result.shape.push_back(extent);
    // Rounded up, the last window may reach behind the end.
    const ByExample &from = sizes_.values(shape[kept + i]), &to = sizes_.values(extent);
    guarded[i] = padding[i] > 0;
    for (size_t e = 0; e < from.size(); ++e)
      guarded[i] = guarded[i] || (to[e] - 1) * step[i] + (size[i] - 1) * dilation[i] >= from[e];
    const bool rounds_up = guarded[i] && call.hold("ceil_mode=True");
    if (rounds_up && !largest) return unsupported("means of windows that reach behind the end");
  }
  result.loops = result.shape;
  std::vector<SizeId> extents;
  int64_t all = 1;
  for (const int64_t one : size) {
    extents.push_back(sizes_.literal(one));
    all *= one;
  }
  /// Begin of the window of a place, and the condition that an element of it is there.
  const auto begin = [=](Scope& scope, const Place& place, size_t i) {
    IndexTable& indices = scope.indices();
    const IndexId at = indices.scale(place[kept + i], scope.sizes().literal(step[i]));
    return padding[i] > 0 ? indices.subtract(at, indices.constant(padding[i])) : at;
  };
  const auto own = static_cast<TensorId>(tensors_.size());
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    IndexTable& indices = scope.indices();
    const std::vector<VariableId> variables = scope.variables(extents, place);
    Place from(place.begin(), place.begin() + static_cast<ptrdiff_t>(kept));
    std::optional<ExprId> inside;
    for (size_t i = 0; i < spatial; ++i) {
      const IndexId within = indices.scale(indices.variable(variables[i]), scope.sizes().literal(dilation[i]));
      from.push_back(indices.add(begin(scope, place, i), within));
      if (!guarded[i]) continue;
      const ExprId here = exprs.inside(from.back(), shape[kept + i]);
      inside = inside ? exprs.apply(kBoth, {*inside, here}, Compute::Bool) : here;
    }
    ExprId element = scope.element(x, from);
    const double nothing = largest ? -std::numeric_limits<double>::infinity() : 0;
    if (inside) element = exprs.guard(*inside, element, exprs.number(nothing));
    std::vector<VariableId> loops;
    for (const VariableId variable : variables) {
      if (!scope.sizes().is_one(indices.extent(variable))) loops.push_back(variable);
    }
    return loops.empty() ? element : exprs.reduce(largest ? Fold::Largest : Fold::Sum, own, loops, element);
  };
  const TensorId total =
      hidden(std::string(graph_.node(id).name) + "_window", result.shape, {x}, static_cast<int>(2 * all), at);
  tensors_[total].folds = true;
  return define(id, std::move(result), {total}, largest ? 0 : 4, [=](Scope& scope, const Place& place) {
    const ExprId folded = scope.element(total, place);
    if (largest) return folded;
    ExprTable& exprs = scope.exprs();
    IndexTable& indices = scope.indices();
    ExprId elements = exprs.number(static_cast<double>(all));
    if (!with_padding && std::ranges::count(guarded, true) > 0) {
      elements = exprs.number(1);
      for (size_t i = 0; i < spatial; ++i) {
        const ExprId first = exprs.place(begin(scope, place, i)), length = exprs.place(indices.size(shape[kept + i]));
        const ExprId in_one = exprs.apply(fmt::format("?($0 + {0} < $1, $0 + {0}, $1) - ?($0 > 0, $0, 0)", size[i]),
                                          {first, length}, Compute::Int);
        elements = exprs.apply("$0 * $1", {elements, exprs.convert(in_one, Compute::Float)}, Compute::Float);
      }
    }
    return exprs.apply("$0 / $1", {folded, elements}, Compute::Float);
  });
}

// (length + 2 padding - reach - 1) / step + 1, where windows reach `reach` beyond their first element.
Result<SizeId> Definitions::pooled_size(NodeId id, size_t dim, SizeId length, int64_t reach, int64_t step,
                                        int64_t padding) {
  const std::vector<ValueType> types = subject_.types_of(id);
  const SizeId by = sizes_.literal(step);
  const int64_t more = 2 * padding - reach - 1 + step;
  SizeId whole = length;
  if (more != 0)
    whole = more > 0 ? sizes_.sum(length, sizes_.literal(more)) : sizes_.difference(length, sizes_.literal(-more));
  const SizeId made = step == 1 ? whole : sizes_.whole_quotient(whole, by);
  for (size_t e = 0; e < types.size(); ++e) {
    if (sizes_.values(made)[e] != types[e].tensor.shape[dim]) return unsupported("windows whose number is rounded up");
  }
  return made;
}

// (length + 2 padding - reach - 1) / step + 1, where windows reach so far beyond their first element.
SizeId Definitions::window_count(SizeId length, SizeId window, SizeId step, SizeId padding, SizeId spread) {
  if (!sizes_.is_constant(padding, 0)) length = sizes_.sum(length, sizes_.product(sizes_.literal(2), padding));
  if (!sizes_.is_one(window))
    length = sizes_.difference(length, sizes_.product(sizes_.difference(window, sizes_.one()), spread));
  if (sizes_.is_one(step)) return length;
  return sizes_.sum(sizes_.whole_quotient(sizes_.difference(length, sizes_.one()), step), sizes_.one());
}

// Windows along one dimension, whose elements are a new last one.
Result<void> Definitions::windows_along(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const int64_t dim, call.dimension("dimension", static_cast<int64_t>(tensors_[x].shape.size())));
  PASSNET_TRY(const Number size, number(call.at("size")));
  PASSNET_TRY(const Number step, number(call.at("step")));
  const SizeId by = magnitude(step);
  window_count(tensors_[x].shape[static_cast<size_t>(dim)], as_size(size), by, sizes_.literal(0), sizes_.one());
  return define_view(id, x, [dim, by](Scope& scope, const Place& place) {
    Place own(place.begin(), place.end() - 1);
    IndexId& at = own[static_cast<size_t>(dim)];
    at = scope.indices().add(scope.indices().scale(at, by), place.back());
    return own;
  });
}

// Windows of pictures as columns: of all channels, and in the order of their places.
Result<void> Definitions::windows_as_columns(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  const std::vector<SizeId> shape = tensors_[x].shape;
  if (shape.size() != 4) return unsupported("windows of other than a batch of pictures");
  PASSNET_TRY(const std::vector<Number> sizes, numbers_for(call.at("kernel_size"), 2));
  PASSNET_TRY(const std::vector<Number> steps, numbers_for(call.at("stride"), 2));
  PASSNET_TRY(const std::vector<Number> paddings, numbers_for(call.at("padding"), 2));
  PASSNET_TRY(const std::vector<Number> dilations, numbers_for(call.at("dilation"), 2));
  std::vector<SizeId> window = {shape[1]}, count, step, spread;
  std::vector<IndexId> padding;
  for (size_t i = 0; i < 2; ++i) {
    step.push_back(magnitude(steps[i]));
    spread.push_back(magnitude(dilations[i]));
    padding.push_back(counted(paddings[i], shape[2 + i]));
    window.push_back(magnitude(sizes[i]));
    count.push_back(window_count(shape[2 + i], window.back(), step[i], magnitude(paddings[i]), spread[i]));
  }
  result.shape = {shape[0], sizes_.product(window), sizes_.product(count)};
  const std::vector<ValueType> types = subject_.types_of(id);
  for (size_t e = 0; e < types.size(); ++e) {
    if (sizes_.values(result.shape[2])[e] != types[e].tensor.shape[2]) return unsupported("windows of another number");
  }
  const Compute compute = elements_[result.element].compute;
  const std::vector<bool> padded = {!paddings[0].is(0), !paddings[1].is(0)};
  return define(id, std::move(result), {x}, 4, [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    IndexTable& indices = scope.indices();
    const Place within = indices.place(place[1], window), at = indices.place(place[2], count);
    Place from = {place[0], within[0]};
    std::optional<ExprId> inside;
    for (size_t i = 0; i < 2; ++i) {
      const IndexId there = indices.add(indices.scale(at[i], step[i]), indices.scale(within[1 + i], spread[i]));
      from.push_back(indices.subtract(there, padding[i]));
      if (!padded[i]) continue;
      const ExprId here = exprs.inside(from.back(), shape[2 + i]);
      inside = inside ? exprs.apply(kBoth, {*inside, here}, Compute::Bool) : here;
    }
    const ExprId element = scope.element(x, from);
    return inside ? exprs.guard(*inside, element, exprs.integer(0, compute)) : element;
  });
}

}  // namespace passnet::author
