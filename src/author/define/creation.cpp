// Operators that make elements of nothing but numbers and places, and those that lay out the elements of one tensor again
// and again.
#include <fmt/format.h>

#include <algorithm>

#include "author/define/definitions.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

// The result has the same size in all graphs: numbers of the pattern, or sizes that an input tells.
Result<Tensor> Definitions::sized_result(NodeId id, std::initializer_list<Arg> sizes) {
  PASSNET_TRY(Tensor result, result_of(id));
  for (const Arg& size : sizes) know_sizes(size);
  const std::vector<ValueType> types = subject_.types_of(id);
  for (size_t dim = 0; dim < types[0].tensor.shape.size(); ++dim) {
    ByExample values;
    for (const ValueType& type : types) values.push_back(type.tensor.shape[dim]);
    const bool same = std::ranges::count(values, values[0]) == static_cast<ptrdiff_t>(values.size());
    PASSNET_TRY(result.shape.emplace_back(), same ? Result<SizeId>(sizes_.constant(values[0])) : size_of(types, dim));
  }
  return result;
}

Result<bool> Definitions::creation(NodeId id, const Arguments& call, std::string_view name) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  Result<void> done = unsupported("");
  if (is_one_of({"zeros", "zeros_like", "new_zeros"})) {
    done = filled(id, Arg::of_int(0), call.at("size"));
  } else if (is_one_of({"ones", "ones_like", "new_ones"})) {
    done = filled(id, Arg::of_int(1), call.at("size"));
  } else if (is_one_of({"full", "full_like", "new_full"})) {
    done = filled(id, call.at("fill_value"), call.at("size"));
  } else if (name == "tensor" || name == "scalar_tensor") {
    done = filled(id, call.at(name == "tensor" ? "data" : "s"), Arg::none());
  } else if (name == "arange") {
    done = range(id, call);
  } else if (name == "linspace") {
    done = linspace(id, call);
  } else if (is_one_of({"repeat", "tile"})) {
    done = repeat(id, call, name == "repeat" ? "repeats" : "dims");
  } else if (name == "repeat_interleave") {
    done = repeat_interleave(id, call);
  } else {
    return false;
  }
  if (!done) return std::move(done).error();
  return true;
}

Result<void> Definitions::filled(NodeId id, const Arg& number, const Arg& size) {
  PASSNET_TRY(Tensor result, sized_result(id, {size}));
  PASSNET_TRY(const Operand value, operand(number, elements_[result.element].compute));
  if (value.tensor) return unsupported("filled with an element of a tensor");
  return define(id, std::move(result), {}, 0, [value](Scope&, const Place&) { return value.number; });
}

Result<void> Definitions::range(NodeId id, const Arguments& call) {
  PASSNET_TRY(Tensor result, sized_result(id, {call.at("end")}));
  const Compute compute = elements_[result.element].compute;
  if (compute != Compute::Int) return unsupported("a range of real numbers");
  PASSNET_TRY(const Operand start, operand(call.at("start"), compute));
  PASSNET_TRY(const Operand step, operand(call.at("step"), compute));
  if (start.tensor || step.tensor) return unsupported("a range between elements of tensors");
  return define(id, std::move(result), {}, 2, [start, step](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    return exprs.apply("$0 + $1 * $2", {start.number, exprs.place(place[0]), step.number}, Compute::Int);
  });
}

// From both ends, as PyTorch counts, so that both are exact.
Result<void> Definitions::linspace(NodeId id, const Arguments& call) {
  PASSNET_TRY(Tensor result, sized_result(id, {call.at("steps")}));
  if (elements_[result.element].compute != Compute::Float) return unsupported("linspace of another type than float");
  PASSNET_TRY(const Operand start, operand(call.at("start"), Compute::Float));
  PASSNET_TRY(const Operand end, operand(call.at("end"), Compute::Float));
  if (start.tensor || end.tensor) return unsupported("a range between elements of tensors");
  const SizeId steps = result.shape[0];
  return define(id, std::move(result), {}, 6, [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    if (scope.sizes().is_one(steps)) return start.number;
    const ExprId at = exprs.convert(exprs.place(place[0]), Compute::Float);
    const ExprId last = exprs.apply(
        "$0 - 1.0f", {exprs.convert(exprs.place(scope.indices().size(steps)), Compute::Float)}, Compute::Float);
    const ExprId step = exprs.apply("($1 - $0) / $2", {start.number, end.number, last}, Compute::Float);
    return exprs.apply("?($3 + $3 < $4, $0 + $2 * $3, $1 - $2 * ($4 - $3))", {start.number, end.number, step, at, last},
                       Compute::Float);
  });
}

// Repeats the whole tensor, one copy after the other.
Result<void> Definitions::repeat(NodeId id, const Arguments& call, std::string_view parameter) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  PASSNET_TRY(std::vector<Number> times, numbers(call.at(parameter)));
  const std::vector<SizeId> shape = tensors_[x].shape;
  const size_t rank = static_cast<size_t>(subject_.types[0][id].tensor.shape.size());
  const size_t first = rank - shape.size();
  times.insert(times.begin(), rank - times.size(), {ByExample(subject_.types.size(), 1)});
  for (size_t dim = 0; dim < rank; ++dim) {
    const SizeId one = dim < first ? sizes_.one() : shape[dim - first];
    if (std::ranges::min(times[dim].values) < 1) return unsupported("a result without elements");
    if (times[dim].is(1))
      result.shape.push_back(one);
    else
      result.shape.push_back(sizes_.is_one(one) ? as_size(times[dim]) : sizes_.product(one, magnitude(times[dim])));
  }
  result.is_view = true;
  const std::vector<SizeId> to = result.shape;
  return define(id, std::move(result), {x}, 0, [=](Scope& scope, const Place& place) {
    Place own;
    for (size_t i = 0; i < shape.size(); ++i)
      own.push_back(to[first + i] == shape[i] ? place[first + i]
                                              : scope.indices().remainder(place[first + i], shape[i]));
    return scope.element(x, own);
  });
}

// Each element, or each part along a dimension, so many times.
Result<void> Definitions::repeat_interleave(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const Number repeats, number(call.at("repeats")));
  const std::vector<SizeId> shape = tensors_[x].shape;
  if (!call.given("dim") && shape.size() != 1) return unsupported("every element of several dimensions repeated");
  int64_t dim = 0;
  if (call.given("dim")) {
    PASSNET_TRY(dim, call.dimension("dim", static_cast<int64_t>(shape.size())));
  }
  if (std::ranges::min(repeats.values) < 1) return unsupported("a result without elements");
  const SizeId times = magnitude(repeats);
  PASSNET_TRY(Tensor result, result_of(id));
  result.is_view = true;
  result.shape = shape;
  result.shape[static_cast<size_t>(dim)] = sizes_.product(shape[static_cast<size_t>(dim)], times);
  return define(id, std::move(result), {x}, 0, [=](Scope& scope, const Place& place) {
    Place own = place;
    IndexId& at = own[static_cast<size_t>(dim)];
    at = scope.indices().divide(at, times);
    return scope.element(x, own);
  });
}

}  // namespace passnet::author
