// Operators that make elements of nothing but numbers and places, and those that lay out the elements of one tensor again
// and again.

#include <algorithm>

#include "author/define/operators.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::Arg;
using ir::NodeId;

// The result has the same size in all graphs: numbers of the pattern, or sizes that an input tells.
Result<Tensor> sized_result(Context& c, NodeId id, const Arg& size) {
  PASSNET_TRY(Tensor result, c.result_of(id));
  c.know_sizes(size);
  const std::vector<ValueType> types = c.subject.types_of(id);
  for (size_t dim = 0; dim < types[0].tensor.shape.size(); ++dim) {
    const ByExample values = sizes_along(types, dim);
    const bool same = std::ranges::count(values, values[0]) == static_cast<ptrdiff_t>(values.size());
    PASSNET_TRY(result.shape.emplace_back(),
                same ? Result<SizeId>(c.sizes.constant(values[0])) : c.size_of(types, dim));
  }
  return result;
}

namespace {

Result<void> filled(Context& c, const Arguments& call, const Arg& number) {
  PASSNET_TRY(Tensor result, sized_result(c, call.id(), call.at("size")));
  PASSNET_TRY(const Operand value, c.operand(number, c.elements[result.element].compute));
  if (value.tensor) return unsupported("filled with an element of a tensor");
  return c.define(std::move(result), {}, 0, [value](Scope&, const Place&) { return value.number; });
}

}  // namespace

Result<void> zeros(Context& c, const Arguments& call) { return filled(c, call, Arg::of_int(0)); }
Result<void> ones(Context& c, const Arguments& call) { return filled(c, call, Arg::of_int(1)); }
Result<void> full(Context& c, const Arguments& call) { return filled(c, call, call.at("fill_value")); }
Result<void> of_number(Context& c, const Arguments& call) {
  return filled(c, call, call.at(call.name() == "tensor" ? "data" : "s"));
}

Result<void> arange(Context& c, const Arguments& call) {
  PASSNET_TRY(Tensor result, sized_result(c, call.id(), call.at("end")));
  const Compute compute = c.elements[result.element].compute;
  if (compute != Compute::Int) return unsupported("a range of real numbers");
  PASSNET_TRY(const Operand start, c.operand(call.at("start"), compute));
  PASSNET_TRY(const Operand step, c.operand(call.at("step"), compute));
  if (start.tensor || step.tensor) return unsupported("a range between elements of tensors");
  return c.define(std::move(result), {}, 2, [start, step](Scope& scope, const Place& place) {
    return scope.exprs.apply(A + B * C, {start.number, scope.exprs.place(place[0]), step.number}, Compute::Int);
  });
}

// From both ends, as PyTorch counts, so that both are exact.
Result<void> linspace(Context& c, const Arguments& call) {
  PASSNET_TRY(Tensor result, sized_result(c, call.id(), call.at("steps")));
  if (c.elements[result.element].compute != Compute::Float) return unsupported("linspace of another type than float");
  PASSNET_TRY(const Operand start, c.operand(call.at("start"), Compute::Float));
  PASSNET_TRY(const Operand end, c.operand(call.at("end"), Compute::Float));
  if (start.tensor || end.tensor) return unsupported("a range between elements of tensors");
  const SizeId steps = result.shape[0];
  return c.define(std::move(result), {}, 6, [=](Scope& scope, const Place& place) {
    if (scope.sizes.is_one(steps)) return start.number;
    const ExprId at = scope.exprs.convert(scope.exprs.place(place[0]), Compute::Float);
    const ExprId last =
        scope.exprs.apply(A - 1.0, {scope.exprs.convert(scope.exprs.place(scope.indices.size(steps)), Compute::Float)});
    const ExprId step = scope.exprs.apply((B - A) / C, {start.number, end.number, last});
    return scope.exprs.apply(choose(D + D < E, A + C * D, B - C * (E - D)), {start.number, end.number, step, at, last});
  });
}

// Repeats the whole tensor, one copy after the other.
Result<void> repeat(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  PASSNET_TRY(std::vector<Number> times, c.numbers(call.at(call.name() == "repeat" ? "repeats" : "dims")));
  const std::vector<SizeId> shape = c.tensors[x].shape;
  const size_t rank = static_cast<size_t>(c.subject.types[0][call.id()].tensor.shape.size());
  const size_t first = rank - shape.size();
  times.insert(times.begin(), rank - times.size(), {ByExample(c.subject.types.size(), 1)});
  for (size_t dim = 0; dim < rank; ++dim) {
    const SizeId one = dim < first ? c.sizes.one() : shape[dim - first];
    if (std::ranges::min(times[dim].values) < 1) return unsupported("a result without elements");
    if (times[dim].is(1))
      result.shape.push_back(one);
    else
      result.shape.push_back(c.sizes.is_one(one) ? c.as_size(times[dim])
                                                 : c.sizes.product(one, c.magnitude(times[dim])));
  }
  result.is_view = true;
  const std::vector<SizeId> to = result.shape;
  return c.define(std::move(result), {x}, 0, [=](Scope& scope, const Place& place) {
    Place own;
    for (size_t i = 0; i < shape.size(); ++i)
      own.push_back(to[first + i] == shape[i] ? place[first + i] : scope.indices.remainder(place[first + i], shape[i]));
    return scope.element(x, own);
  });
}

// Each element, or each part along a dimension, so many times.
Result<void> repeat_interleave(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const Number repeats, c.number(call.at("repeats")));
  const std::vector<SizeId> shape = c.tensors[x].shape;
  if (!call.given("dim") && shape.size() != 1) return unsupported("every element of several dimensions repeated");
  int64_t dim = 0;
  if (call.given("dim")) {
    PASSNET_TRY(dim, call.dimension("dim", static_cast<int64_t>(shape.size())));
  }
  if (std::ranges::min(repeats.values) < 1) return unsupported("a result without elements");
  const SizeId times = c.magnitude(repeats);
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  result.is_view = true;
  result.shape = shape;
  result.shape[static_cast<size_t>(dim)] = c.sizes.product(shape[static_cast<size_t>(dim)], times);
  return c.define(std::move(result), {x}, 0, [=](Scope& scope, const Place& place) {
    Place own = place;
    IndexId& at = own[static_cast<size_t>(dim)];
    at = scope.indices.divide(at, times);
    return scope.element(x, own);
  });
}

}  // namespace passnet::author::op
