// Operators that look at the neighbourhood of a place: pooling, and pictures made larger or smaller.

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "author/define/operators.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

namespace {

// (length + 2 padding - reach - 1) / step + 1, where windows reach `reach` beyond their first element.
Result<SizeId> pooled_size(Context& c, const Arguments& call, size_t dim, SizeId length, int64_t reach, int64_t step,
                           int64_t padding) {
  const std::vector<ValueType> types = c.subject.types_of(call.id());
  const SizeId by = c.sizes.literal(step);
  const int64_t more = 2 * padding - reach - 1 + step;
  SizeId whole = length;
  if (more != 0)
    whole = more > 0 ? c.sizes.sum(length, c.sizes.literal(more)) : c.sizes.difference(length, c.sizes.literal(-more));
  const SizeId made = step == 1 ? whole : c.sizes.whole_quotient(whole, by);
  if (c.sizes.values(made) != sizes_along(types, dim)) return unsupported("windows whose number is rounded up");
  return made;
}

/// Windows of a picture.
struct Pooling {
  std::vector<SizeId> shape;  // of the picture
  size_t kept = 0;            // dimensions before those of a window
  std::vector<int64_t> size = {}, step = {}, padding = {}, dilation = {};
  std::vector<bool> guarded = {};  // dimensions in which a window may reach beyond the picture

  size_t spatial() const { return shape.size() - kept; }
  /// The begin of the window of a place.
  IndexId begin(Scope& scope, const Place& place, size_t i) const {
    const IndexId at = scope.indices.scale(place[kept + i], scope.sizes.literal(step[i]));
    return padding[i] > 0 ? scope.indices.subtract(at, scope.indices.constant(padding[i])) : at;
  }
};

/// Reads the windows, and gives the result its shape.
Result<Pooling> pooling_of(Context& c, const Arguments& call, const std::vector<SizeId>& shape, bool largest,
                           Tensor& result) {
  const size_t spatial = call.name().ends_with("1d") ? 1 : call.name().ends_with("2d") ? 2 : 3;
  if (shape.size() < spatial) return unsupported("pooling of too few dimensions");
  Pooling made{shape, shape.size() - spatial};
  const auto each = [&](std::string_view parameter, int64_t otherwise) -> Result<std::vector<int64_t>> {
    if (!call.given(parameter)) return std::vector<int64_t>(spatial, otherwise);
    PASSNET_TRY(std::vector<int64_t> given, call.integers(parameter));
    if (given.size() == 1) given.assign(spatial, given[0]);
    if (given.size() != spatial) return unsupported("numbers for other dimensions");
    return given;
  };
  PASSNET_TRY(made.size, each("kernel_size", 0));
  PASSNET_TRY(made.step, each("stride", 0));
  if (!call.given("stride") || std::ranges::count(made.step, 0) > 0) made.step = made.size;
  PASSNET_TRY(made.padding, each("padding", 0));
  PASSNET_TRY(made.dilation, largest ? each("dilation", 1) : std::vector<int64_t>(spatial, 1));
  result.shape.assign(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(made.kept));
  for (size_t i = 0; i < spatial; ++i) {
    const size_t dim = made.kept + i;
    const int64_t reach = (made.size[i] - 1) * made.dilation[i];
    PASSNET_TRY(const SizeId extent, pooled_size(c, call, dim, shape[dim], reach, made.step[i], made.padding[i]));
    result.shape.push_back(extent);
    // Rounded up, the last window may reach behind the end.
    const ByExample from = c.sizes.values(shape[dim]), to = c.sizes.values(extent);
    bool guarded = made.padding[i] > 0;
    for (size_t e = 0; e < from.size(); ++e) guarded = guarded || (to[e] - 1) * made.step[i] + reach >= from[e];
    made.guarded.push_back(guarded);
    if (guarded && call.hold("ceil_mode=True") && !largest)
      return unsupported("means of windows that reach behind the end");
  }
  return made;
}

}  // namespace

Result<void> pool(Context& c, const Arguments& call, TensorId x) {
  const bool largest = call.name().starts_with("max");
  PASSNET_TRY(Tensor result, c.float_result_of(call.id(), "pooling"));
  if (largest && call.given("return_indices") && !call.hold("return_indices=False"))
    return unsupported("the largest elements with where they are");
  if (!largest && call.given("divisor_override")) return unsupported("a mean by another number");
  PASSNET_TRY(const Pooling of, pooling_of(c, call, c.tensors[x].shape, largest, result));
  result.loops = result.shape;
  std::vector<SizeId> extents;
  for (const int64_t one : of.size) extents.push_back(c.sizes.literal(one));
  const int64_t all = std::accumulate(of.size.begin(), of.size.end(), int64_t{1}, std::multiplies());
  const auto own = static_cast<TensorId>(c.tensors.size());
  const auto at = [=](Scope& scope, const Place& place) {
    const std::vector<VariableId> variables = scope.variables(extents, place);
    Place from(place.begin(), place.begin() + static_cast<ptrdiff_t>(of.kept));
    std::optional<ExprId> inside;
    for (size_t i = 0; i < of.spatial(); ++i) {
      const IndexId within =
          scope.indices.scale(scope.indices.variable(variables[i]), scope.sizes.literal(of.dilation[i]));
      from.push_back(scope.indices.add(of.begin(scope, place, i), within));
      if (of.guarded[i]) inside = scope.exprs.both(inside, scope.exprs.inside(from.back(), of.shape[of.kept + i]));
    }
    ExprId element = scope.element(x, from);
    const double nothing = largest ? -std::numeric_limits<double>::infinity() : 0;
    if (inside) element = scope.exprs.guard(*inside, element, scope.exprs.number(nothing));
    return scope.folded(largest ? Fold::Largest : Fold::Sum, own, variables, element);
  };
  const TensorId total = c.hidden(call.value_name() + "_window", result.shape, {x}, static_cast<int>(2 * all), at);
  c.tensors[total].folds = true;
  if (largest)
    return c.define(std::move(result), {total}, 0,
                    [total](Scope& scope, const Place& place) { return scope.element(total, place); });
  const bool counts_all = call.hold("count_include_pad=True") || std::ranges::count(of.guarded, true) == 0;
  return c.define(std::move(result), {total}, 4, [=](Scope& scope, const Place& place) {
    const ExprId folded = scope.element(total, place);
    if (counts_all) return scope.exprs.apply(A / B, {folded, scope.exprs.number(static_cast<double>(all))});
    std::optional<ExprId> elements;
    for (size_t i = 0; i < of.spatial(); ++i) {
      const ExprId first = scope.exprs.place(of.begin(scope, place, i)),
                   length = scope.exprs.place(scope.indices.size(of.shape[of.kept + i]));
      const ExprId in_one = scope.exprs.apply(choose(A + of.size[i] < B, A + of.size[i], B) - choose(A > 0, A, 0),
                                              {first, length}, Compute::Int);
      const ExprId converted = scope.exprs.convert(in_one, Compute::Float);
      elements = elements ? scope.exprs.apply(A * B, {*elements, converted}) : converted;
    }
    return scope.exprs.apply(A / B, {folded, *elements});
  });
}

// (length + 2 padding - reach - 1) / step + 1, where windows reach so far beyond their first element.
SizeId window_count(Context& c, SizeId length, SizeId window, SizeId step, SizeId padding, SizeId spread) {
  if (!c.sizes.is_constant(padding, 0)) length = c.sizes.sum(length, c.sizes.product(c.sizes.literal(2), padding));
  if (!c.sizes.is_one(window))
    length = c.sizes.difference(length, c.sizes.product(c.sizes.difference(window, c.sizes.one()), spread));
  if (c.sizes.is_one(step)) return length;
  return c.sizes.sum(c.sizes.whole_quotient(c.sizes.difference(length, c.sizes.one()), step), c.sizes.one());
}

// Windows along one dimension, whose elements are a new last one.
Result<void> windows_along(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const int64_t dim, call.dimension("dimension", c.rank(x)));
  PASSNET_TRY(const Number size, c.number(call.at("size")));
  PASSNET_TRY(const Number step, c.number(call.at("step")));
  const SizeId by = c.magnitude(step);
  window_count(c, c.tensors[x].shape[static_cast<size_t>(dim)], c.as_size(size), by, c.sizes.literal(0), c.sizes.one());
  return c.define_view(call.id(), x, [dim, by](Scope& scope, const Place& place) {
    Place own(place.begin(), place.end() - 1);
    IndexId& at = own[static_cast<size_t>(dim)];
    at = scope.indices.add(scope.indices.scale(at, by), place.back());
    return own;
  });
}

// Windows of pictures as columns: of all channels, and in the order of their places.
Result<void> windows_as_columns(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  const std::vector<SizeId> shape = c.tensors[x].shape;
  if (shape.size() != 4) return unsupported("windows of other than a batch of pictures");
  PASSNET_TRY(const std::vector<Number> sizes, c.numbers_for(call.at("kernel_size"), 2));
  PASSNET_TRY(const std::vector<Number> steps, c.numbers_for(call.at("stride"), 2));
  PASSNET_TRY(const std::vector<Number> paddings, c.numbers_for(call.at("padding"), 2));
  PASSNET_TRY(const std::vector<Number> dilations, c.numbers_for(call.at("dilation"), 2));
  std::vector<SizeId> window = {shape[1]}, count, step, spread;
  std::vector<IndexId> padding;
  for (size_t i = 0; i < 2; ++i) {
    step.push_back(c.magnitude(steps[i]));
    spread.push_back(c.magnitude(dilations[i]));
    padding.push_back(c.counted(paddings[i], shape[2 + i]));
    window.push_back(c.magnitude(sizes[i]));
    count.push_back(window_count(c, shape[2 + i], window.back(), step[i], c.magnitude(paddings[i]), spread[i]));
  }
  result.shape = {shape[0], c.sizes.product(window), c.sizes.product(count)};
  const std::vector<ValueType> types = c.subject.types_of(call.id());
  if (c.sizes.values(result.shape[2]) != sizes_along(types, 2)) return unsupported("windows of another number");
  const Compute compute = c.elements[result.element].compute;
  const std::vector<bool> padded = {!paddings[0].is(0), !paddings[1].is(0)};
  return c.define(std::move(result), {x}, 4, [=](Scope& scope, const Place& place) {
    const Place within = scope.indices.place(place[1], window), at = scope.indices.place(place[2], count);
    Place from = {place[0], within[0]};
    std::optional<ExprId> inside;
    for (size_t i = 0; i < 2; ++i) {
      const IndexId there =
          scope.indices.add(scope.indices.scale(at[i], step[i]), scope.indices.scale(within[1 + i], spread[i]));
      from.push_back(scope.indices.subtract(there, padding[i]));
      if (!padded[i]) continue;
      inside = scope.exprs.both(inside, scope.exprs.inside(from.back(), shape[2 + i]));
    }
    const ExprId element = scope.element(x, from);
    return inside ? scope.exprs.guard(*inside, element, scope.exprs.integer(0, compute)) : element;
  });
}

}  // namespace passnet::author::op
