// Operators whose elements depend on where they lie, and those that overwrite a part of a tensor: a new value where a place
// lies in the part, and the old one elsewhere.

#include <algorithm>

#include "author/define/operators.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::Arg;

namespace {

// A number where a mask holds.
Result<void> overwritten_where(Context& c, const Arguments& call, TensorId x, TensorId mask, const Arg& number) {
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  result.shape = c.tensors[x].shape;
  const Compute compute = c.elements[result.element].compute;
  if (c.element(mask).compute != Compute::Bool) return unsupported("elements overwritten by an index");
  const size_t rank = c.tensors[mask].shape.size();
  if (rank > result.shape.size() || !std::ranges::equal(c.tensors[mask].shape, std::span(result.shape).first(rank)))
    return unsupported("a mask of another shape");
  PASSNET_TRY(const Operand value, c.operand(number, compute));
  if (value.tensor && !c.tensors[*value.tensor].shape.empty()) return unsupported("a mask that chooses from a list");
  std::vector<TensorId> takes = {x, mask};
  if (value.tensor) takes.push_back(*value.tensor);
  return c.define(std::move(result), std::move(takes), 1, [=, &c](Scope& scope, const Place& place) {
    const Place own(place.begin(), place.begin() + static_cast<ptrdiff_t>(rank));
    const ExprId old = scope.element(x, place), made = c.operand_at(scope, value, Place(), compute);
    return scope.exprs.apply(choose(A, B, C), {scope.element(mask, own), made, old}, compute);
  });
}

}  // namespace

Result<void> triangle(Context& c, const Arguments& call, TensorId x) {
  const bool upper = call.name() == "triu";
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  result.shape = c.tensors[x].shape;
  if (result.shape.size() < 2) return unsupported("a triangle of fewer than two dimensions");
  const Compute compute = c.elements[result.element].compute;
  PASSNET_TRY(const Operand diagonal, c.operand(call.at("diagonal"), Compute::Int));
  if (diagonal.tensor) return unsupported("a triangle that a tensor bounds");
  return c.define(std::move(result), {x}, 2, [=](Scope& scope, const Place& place) {
    const ExprId row = scope.exprs.place(place[place.size() - 2]), column = scope.exprs.place(place.back());
    const ExprId inside =
        scope.exprs.apply(upper ? A - B >= C : A - B <= C, {column, row, diagonal.number}, Compute::Bool);
    return scope.exprs.guard(inside, scope.element(x, place), scope.exprs.integer(0, compute));
  });
}

Result<void> one_hot(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const Number classes, c.number(call.at("num_classes")));
  if (classes.is_negative()) return unsupported("as many classes as the largest element says");
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  result.shape = c.tensors[x].shape;
  result.shape.push_back(c.as_size(classes));
  return c.define(std::move(result), {x}, 1, [x](Scope& scope, const Place& place) {
    const ExprId which = scope.element(x, Place(place.begin(), place.end() - 1));
    return scope.exprs.convert(scope.exprs.apply(A == B, {which, scope.exprs.place(place.back())}, Compute::Bool),
                               Compute::Int);
  });
}

Result<void> setitem(Context& c, const Arguments& call, TensorId x) {
  const Arg& index = call.at("index");
  if (const std::optional<TensorId> mask = c.optional_tensor(index))
    return overwritten_where(c, call, x, *mask, call.at("value"));
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  const std::vector<SizeId> shape = result.shape = c.tensors[x].shape;
  const Compute compute = c.elements[result.element].compute;
  PASSNET_TRY(const Operand value, c.operand(call.at("value"), compute));
  PASSNET_TRY(const Indexed part, indexed_by(c, index, shape));
  std::vector<TensorId> takes = {x};
  if (value.tensor) {
    takes.push_back(*value.tensor);
    // The shape that is broadcast to the part; it may have more dimensions than that, of size 1.
    std::vector<SizeId> of_part(part.rank, c.sizes.one());
    for (const From& one : part.from) {
      if (one.dim) of_part[*one.dim] = one.count;
    }
    const std::vector<SizeId>& own = c.tensors[*value.tensor].shape;
    if (own.size() > of_part.size()) return unsupported("a part overwritten by more dimensions than it has");
    for (size_t i = 0; i < own.size(); ++i) {
      const SizeId to = of_part[of_part.size() - own.size() + i];
      if (!c.sizes.is_one(own[i]) && c.sizes.values(own[i]) != c.sizes.values(to))
        return unsupported("a part overwritten by another shape");
    }
  }
  return c.define(std::move(result), std::move(takes), 4, [=, &c](Scope& scope, const Place& place) {
    std::optional<ExprId> inside;
    const auto and_also = [&](const Formula& holds, IndexId a, IndexId b) {
      const ExprId here = scope.exprs.apply(holds, {scope.exprs.place(a), scope.exprs.place(b)}, Compute::Bool);
      inside = scope.exprs.both(inside, here);
    };
    Place own(part.rank, scope.indices.zero());
    for (size_t i = 0; i < part.from.size(); ++i) {
      const From& one = part.from[i];
      if (!one.dim) {
        and_also(A == B, place[i], one.start);
        continue;
      }
      own[*one.dim] = place[i];
      if (one.count == shape[i] && scope.sizes.is_one(one.step)) continue;
      const IndexId from_start = scope.indices.subtract(place[i], one.start);
      own[*one.dim] = scope.indices.divide(from_start, one.step);
      and_also(A >= B, place[i], one.start);
      and_also(A < B, own[*one.dim], scope.indices.size(one.count));
      if (!scope.sizes.is_one(one.step))
        and_also(A == B, scope.indices.remainder(from_start, one.step), scope.indices.zero());
    }
    const ExprId made = c.operand_at(scope, value, own, compute);
    return inside ? scope.exprs.guard(*inside, made, scope.element(x, place)) : made;
  });
}

}  // namespace passnet::author::op
