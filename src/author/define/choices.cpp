// Operators whose elements depend on where they lie, and those that overwrite a part of a tensor: a new value where a place
// lies in the part, and the old one elsewhere.
#include <fmt/format.h>

#include <algorithm>

#include "author/define/definitions.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

// Places are compared as floats, which hold whole numbers up to this.
constexpr int64_t kMostPlaces = int64_t{1} << 24;

}  // namespace

Result<bool> Definitions::choice(NodeId id, const Arguments& call, std::string_view name) {
  Result<void> done = unsupported("");
  if (name == "triu" || name == "tril") {
    done = triangle(id, call, name == "triu");
  } else if (name == "one_hot") {
    done = one_hot(id, call);
  } else if (name == "setitem") {
    done = overwritten_part(id, call);
  } else if (name == "argmax" || name == "argmin") {
    done = best(id, call, name == "argmax", true);
  } else {
    return false;
  }
  if (!done) return std::move(done).error();
  return true;
}

Result<void> Definitions::triangle(NodeId id, const Arguments& call, bool upper) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  result.shape = tensors_[x].shape;
  if (result.shape.size() < 2) return unsupported("a triangle of fewer than two dimensions");
  const Compute compute = elements_[result.element].compute;
  PASSNET_TRY(const Operand diagonal, operand(call.at("diagonal"), Compute::Int));
  if (diagonal.tensor) return unsupported("a triangle that a tensor bounds");
  return define(id, std::move(result), {x}, 2, [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    const ExprId row = exprs.place(place[place.size() - 2]), column = exprs.place(place.back());
    const ExprId inside =
        exprs.apply(upper ? "$0 - $1 >= $2" : "$0 - $1 <= $2", {column, row, diagonal.number}, Compute::Bool);
    return exprs.guard(inside, scope.element(x, place), exprs.integer(0, compute));
  });
}

Result<void> Definitions::one_hot(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const Number classes, number(call.at("num_classes")));
  if (classes.is_negative()) return unsupported("as many classes as the largest element says");
  PASSNET_TRY(Tensor result, result_of(id));
  result.shape = tensors_[x].shape;
  result.shape.push_back(as_size(classes));
  return define(id, std::move(result), {x}, 1, [x](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    const ExprId which = scope.element(x, Place(place.begin(), place.end() - 1));
    return exprs.convert(exprs.apply("$0 == $1", {which, exprs.place(place.back())}, Compute::Bool), Compute::Int);
  });
}

Result<void> Definitions::overwritten_part(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  const Arg& index = call.at("index");
  if (const std::optional<TensorId> mask = optional_tensor(index))
    return overwritten_where(id, x, *mask, call.at("value"));
  PASSNET_TRY(Tensor result, result_of(id));
  const std::vector<SizeId> shape = result.shape = tensors_[x].shape;
  const Compute compute = elements_[result.element].compute;
  PASSNET_TRY(const Operand value, operand(call.at("value"), compute));
  PASSNET_TRY(const Indexed part, indexed_by(index, shape));
  std::vector<TensorId> takes = {x};
  if (value.tensor) {
    takes.push_back(*value.tensor);
    // The shape that is broadcast to the part; it may have more dimensions than that, of size 1.
    std::vector<SizeId> of_part(part.rank, sizes_.one());
    for (const From& one : part.from) {
      if (one.dim) of_part[*one.dim] = one.count;
    }
    const std::vector<SizeId>& own = tensors_[*value.tensor].shape;
    if (own.size() > of_part.size()) return unsupported("a part overwritten by more dimensions than it has");
    for (size_t i = 0; i < own.size(); ++i) {
      const SizeId to = of_part[of_part.size() - own.size() + i];
      if (!sizes_.is_one(own[i]) && sizes_.values(own[i]) != sizes_.values(to))
        return unsupported("a part overwritten by another shape");
    }
  }
  return define(id, std::move(result), std::move(takes), 4, [=, this](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    IndexTable& indices = scope.indices();
    std::optional<ExprId> inside;
    const auto and_also = [&](std::string_view text, IndexId a, IndexId b) {
      const ExprId here = exprs.apply(text, {exprs.place(a), exprs.place(b)}, Compute::Bool);
      inside = inside ? exprs.apply(kBoth, {*inside, here}, Compute::Bool) : here;
    };
    Place own(part.rank, indices.zero());
    for (size_t i = 0; i < part.from.size(); ++i) {
      const From& one = part.from[i];
      if (!one.dim) {
        and_also("$0 == $1", place[i], one.start);
        continue;
      }
      own[*one.dim] = place[i];
      if (one.count == shape[i] && scope.sizes().is_one(one.step)) continue;
      const IndexId from_start = indices.subtract(place[i], one.start);
      own[*one.dim] = indices.divide(from_start, one.step);
      and_also("$0 >= $1", place[i], one.start);
      and_also("$0 < $1", own[*one.dim], indices.size(one.count));
      if (!scope.sizes().is_one(one.step))
        and_also("$0 == $1", indices.remainder(from_start, one.step), indices.zero());
    }
    const ExprId made = operand_at(scope, value, own, compute);
    return inside ? exprs.guard(*inside, made, scope.element(x, place)) : made;
  });
}

// A number where a mask holds.
Result<void> Definitions::overwritten_where(NodeId id, TensorId x, TensorId mask, const Arg& number) {
  PASSNET_TRY(Tensor result, result_of(id));
  result.shape = tensors_[x].shape;
  const Compute compute = elements_[result.element].compute;
  if (elements_[tensors_[mask].element].compute != Compute::Bool)
    return unsupported("elements overwritten by an index");
  const size_t rank = tensors_[mask].shape.size();
  if (rank > result.shape.size() || !std::ranges::equal(tensors_[mask].shape, std::span(result.shape).first(rank)))
    return unsupported("a mask of another shape");
  PASSNET_TRY(const Operand value, operand(number, compute));
  if (value.tensor && !tensors_[*value.tensor].shape.empty()) return unsupported("a mask that chooses from a list");
  std::vector<TensorId> takes = {x, mask};
  if (value.tensor) takes.push_back(*value.tensor);
  return define(id, std::move(result), std::move(takes), 1, [=, this](Scope& scope, const Place& place) {
    const Place own(place.begin(), place.begin() + static_cast<ptrdiff_t>(rank));
    const ExprId old = scope.element(x, place), made = operand_at(scope, value, Place(), compute);
    return scope.exprs().apply("?($0, $1, $2)", {scope.element(mask, own), made, old}, compute);
  });
}

// The largest or smallest elements, or where each of them is first: the first place at which an element is equal to it.
Result<void> Definitions::best(NodeId id, const Arguments& call, bool largest, bool where) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  const Compute compute = elements_[tensors_[x].element].compute;
  if (compute != Compute::Float && compute != Compute::Int)
    return unsupported("the best elements of another type than float and int");
  const std::vector<SizeId> shape = tensors_[x].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (!call.given("dim") && rank != 1) return unsupported("the best of all elements of several dimensions");
  int64_t dim = 0;
  if (call.given("dim")) {
    PASSNET_TRY(dim, call.dimension("dim", rank));
  }
  if (rank == 0) return unsupported("the best of one element");
  PASSNET_TRY(const bool keep, call.flag("keepdim"));
  if (sizes_.largest(shape[static_cast<size_t>(dim)]) > kMostPlaces) return unsupported("the place in too long a row");
  const std::string own(graph_.node(id).name);
  const TensorId extreme = folded(own + "_extreme", x, {dim}, largest ? Fold::Largest : Fold::Smallest, 1,
                                  [](Scope&, ExprId element, const Place&) { return element; });
  if (compute == Compute::Int) tensors_[extreme].element = tensors_[x].element;
  TensorId made = extreme;
  if (where) {
    made = hidden(own + "_place", tensors_[extreme].shape, {x, extreme}, 3, {});
    tensors_[made].folds = true;
    const SizeId length = shape[static_cast<size_t>(dim)];
    tensors_[made].at = [=](Scope& scope, const Place& place) {
      ExprTable& exprs = scope.exprs();
      const VariableId variable = scope.variables({length}, place)[0];
      Place whole = place;
      whole.insert(whole.begin() + dim, scope.indices().variable(variable));
      // NaN is larger and smaller than all, and equal to nothing.
      const ExprId candidate = exprs.apply(
          "?(($0 == $1) | ($0 != $0), $2, $3)",
          {scope.element(x, whole), scope.element(extreme, place),
           exprs.convert(exprs.place(scope.indices().variable(variable)), Compute::Float), exprs.number(kMostPlaces)},
          Compute::Float);
      return scope.sizes().is_one(length) ? candidate : exprs.reduce(Fold::Smallest, made, {variable}, candidate);
    };
  }
  result.shape = shape;
  if (keep)
    result.shape[static_cast<size_t>(dim)] = sizes_.one();
  else
    result.shape.erase(result.shape.begin() + dim);
  return define(id, std::move(result), {made}, 1, [=](Scope& scope, const Place& place) {
    Place row = place;
    if (keep) row.erase(row.begin() + dim);
    const ExprId element = scope.element(made, row);
    return where ? scope.exprs().convert(element, Compute::Int) : element;
  });
}

}  // namespace passnet::author
