// Operators whose elements come from one of several places: tables, concatenation, padding.

#include <algorithm>

#include "author/define/operators.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

/// Padding by elements of the tensor: the place in it, of that length, that `at` stands for, which may lie outside.
IndexId folded_back(Scope& scope, IndexId at, SizeId length, std::string_view mode) {
  // Padding is never longer than what it repeats.
  Formula place = choose(A < 0, -A, choose(A < B, A, 2 * (B - 1) - A));
  if (mode == "replicate") place = choose(A < 0, 0, choose(A < B, A, B - 1));
  if (mode == "circular") place = choose(A < 0, A + B, choose(A < B, A, A - B));
  return scope.indices.element(
      scope.exprs.apply(place, {scope.exprs.place(at), scope.exprs.place(scope.indices.size(length))}, Compute::Int));
}

}  // namespace

// Rows of a table, in the order of an index; those counted from the end are meant as in Python.
Result<void> look_up(Context& c, NodeId id, TensorId table, TensorId index, int64_t dim) {
  PASSNET_TRY(Tensor result, c.result_of(id));
  if (c.element(index).compute != Compute::Int) return unsupported("an index of another type than int");
  const std::vector<SizeId>& rows = c.tensors[table].shape;
  const std::vector<SizeId>& places = c.tensors[index].shape;
  if (rows.empty()) return unsupported("an index of a number");
  result.shape.assign(rows.begin(), rows.begin() + dim);
  result.shape.insert(result.shape.end(), places.begin(), places.end());
  result.shape.insert(result.shape.end(), rows.begin() + dim + 1, rows.end());
  result.is_view = result.looks_up = true;
  const SizeId length = rows[static_cast<size_t>(dim)];
  const size_t index_rank = places.size();
  const auto at = [=](Scope& scope, const Place& place) {
    const auto begin = place.begin() + dim;
    const ExprId which = scope.element(index, Place(begin, begin + static_cast<ptrdiff_t>(index_rank)));
    const ExprId wrapped = scope.exprs.apply(choose(A < 0, A + B, A),
                                             {which, scope.exprs.place(scope.indices.size(length))}, Compute::Int);
    Place own(place.begin(), begin);
    own.push_back(scope.indices.element(wrapped));
    own.insert(own.end(), begin + static_cast<ptrdiff_t>(index_rank), place.end());
    return scope.element(table, own);
  };
  return c.define(std::move(result), {table, index}, 0, at);
}

Result<void> embedding(Context& c, const Arguments& call, TensorId at) {
  PASSNET_TRY(const TensorId table, c.tensor(call.at("weight")));
  return look_up(c, call.id(), table, at, 0);
}

Result<void> index_select(Context& c, const Arguments& call, TensorId table) {
  PASSNET_TRY(const TensorId at, c.tensor(call.at("index")));
  PASSNET_TRY(const int64_t dim, call.dimension("dim", c.rank(table)));
  return look_up(c, call.id(), table, at, dim);
}

Result<void> concatenate(Context& c, const Arguments& call) {
  const bool stack = call.name() == "stack";
  const Arg& list = call.at("tensors");
  if (!is_sequence(list)) return unsupported("no list of tensors");
  std::vector<TensorId> parts;
  for (const Arg& one : c.graph.elements(list)) {
    PASSNET_TRY(parts.emplace_back(), c.tensor(one));
  }
  if (parts.empty()) return unsupported("no tensors");
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  const std::vector<SizeId> first = c.tensors[parts[0]].shape;
  const auto rank = static_cast<int64_t>(first.size()) + (stack ? 1 : 0);
  PASSNET_TRY(const int64_t dim, call.dimension("dim", rank));
  std::vector<SizeId> ends;  // of the parts along that dimension
  SizeId length = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<SizeId>& shape = c.tensors[parts[i]].shape;
    if (shape.size() != first.size()) return unsupported("tensors of other ranks");
    if (c.tensors[parts[i]].element != result.element) return unsupported("tensors of other dtypes");
    const SizeId own = stack ? c.sizes.one() : shape[static_cast<size_t>(dim)];
    length = i == 0 ? own : c.sizes.sum(length, own);
    ends.push_back(length);
  }
  result.shape = first;
  if (stack)
    result.shape.insert(result.shape.begin() + dim, length);
  else
    result.shape[static_cast<size_t>(dim)] = length;
  const auto at = [=](Scope& scope, const Place& place) {
    const IndexId along = place[static_cast<size_t>(dim)];
    ExprId value = 0;
    for (size_t i = parts.size(); i-- > 0;) {
      Place own = place;
      const IndexId begin = i == 0 ? scope.indices.zero() : scope.indices.size(ends[i - 1]);
      if (stack)
        own.erase(own.begin() + dim);
      else
        own[static_cast<size_t>(dim)] = scope.indices.subtract(along, begin);
      const ExprId element = scope.element(parts[i], own);
      if (i + 1 == parts.size()) {
        value = element;
        continue;
      }
      value = scope.exprs.guard(scope.exprs.below(along, ends[i]), element, value);
    }
    return value;
  };
  std::vector<TensorId> takes = parts;
  result.is_view = true;
  return c.define(std::move(result), std::move(takes), static_cast<int>(parts.size()), at);
}

Result<void> pad(Context& c, const Arguments& call, TensorId x) {
  const Arg& given = call.at("mode");
  const std::string mode(given.kind == ArgKind::String ? given.string() : "constant");
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  PASSNET_TRY(const std::vector<Number> amounts, c.numbers(call.at("pad")));
  const std::vector<SizeId> shape = c.tensors[x].shape;
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > shape.size()) return unsupported("padding of other dimensions");
  if (std::ranges::any_of(amounts, &Number::is_negative)) return unsupported("negative padding");
  const Compute compute = c.elements[result.element].compute;
  Operand value;
  if (call.given("value")) {
    PASSNET_TRY(value, c.operand(call.at("value"), compute));
  } else {
    value.number = c.exprs.integer(0, compute);
  }
  result.shape = shape;
  std::vector<IndexId> before(shape.size());
  std::vector<bool> padded(shape.size());
  for (size_t i = 0; i < amounts.size() / 2; ++i) {
    const size_t dim = shape.size() - 1 - i;
    const Number &front = amounts[2 * i], &back = amounts[2 * i + 1];
    padded[dim] = !front.is(0) || !back.is(0);
    before[dim] = c.counted(front, shape[dim]);
    const bool literal = front.is_literal() && back.is_literal();
    const SizeId both = literal ? c.sizes.literal(front.values[0] + back.values[0])
                                : c.sizes.sum(c.magnitude(front), c.magnitude(back));
    if (padded[dim]) result.shape[dim] = c.sizes.sum(shape[dim], both);
  }
  const auto at = [=, &c](Scope& scope, const Place& place) {
    Place own = place;
    std::optional<ExprId> inside;
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (!padded[dim]) continue;
      own[dim] = scope.indices.subtract(place[dim], before[dim]);
      if (mode != "constant") {
        own[dim] = folded_back(scope, own[dim], shape[dim], mode);
        continue;
      }
      inside = scope.exprs.both(inside, scope.exprs.inside(own[dim], shape[dim]));
    }
    const ExprId element = scope.element(x, own);
    return inside ? scope.exprs.guard(*inside, element, value.number) : element;
  };
  return c.define(std::move(result), {x}, 2, at);
}

}  // namespace passnet::author::op
