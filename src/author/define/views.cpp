// Operators that move elements and change none: where each element of the result comes from.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "author/define/operators.h"
#include "author/subject/memory.h"

namespace passnet::author::op {

using ir::Arg;
using ir::ArgKind;

namespace {

/// The loops of its dimensions in that order.
std::vector<SizeId> loops_in_order(const Context& c, TensorId of, const std::vector<int64_t>& order) {
  const Tensor& tensor = c.tensors[of];
  if (tensor.loops.empty()) return {};
  std::vector<std::vector<SizeId>> of_dimension(tensor.shape.size());
  for (const IndexTable::Run& run : c.indices.runs(tensor.shape, tensor.loops)) {
    if (run.end_to - run.first_to > 1) return {};
    if (run.end_to == run.first_to) continue;
    of_dimension[run.first_to].assign(tensor.loops.begin() + static_cast<ptrdiff_t>(run.first_from),
                                      tensor.loops.begin() + static_cast<ptrdiff_t>(run.end_from));
  }
  std::vector<SizeId> loops;
  for (const int64_t dim : order) {
    const std::vector<SizeId>& own = of_dimension[static_cast<size_t>(dim)];
    loops.insert(loops.end(), own.begin(), own.end());
  }
  return loops;
}

/// Defines the dimensions of the operand in another order.
Result<void> reordered(Context& c, const Arguments& call, TensorId x, const std::vector<int64_t>& order) {
  const auto place_of = [order](Scope&, const Place& place) {
    Place from(place.size());
    for (size_t i = 0; i < order.size(); ++i) from[static_cast<size_t>(order[i])] = place[i];
    return from;
  };
  return c.define_view(call.id(), x, place_of, loops_in_order(c, x, order));
}

std::vector<int64_t> in_order(int64_t rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The sizes of a result that a call gives, by what is left to find out: which of them is -1.
struct Open {
  std::optional<size_t> dim;                            // in all graphs
  std::vector<std::pair<size_t, std::string>> in_some;  // in some of the graphs, with its text in the plan
};

/// Lets the sizes be known that are written out. first: the dimension that they begin at.
Result<Open> sizes_given(Context& c, const Arg& arg, size_t first, size_t rank) {
  Open open;
  for (const Arg& size : is_sequence(arg) ? c.graph.elements(arg) : std::span<const Arg>(&arg, 1)) {
    if (size.kind == ArgKind::DType) return unsupported("a view of another dtype");
    if (const Result<std::vector<Number>> given = c.numbers(size)) {
      for (const Number& one : *given) {
        if (first >= rank) return unsupported("a shape of another rank in each graph");
        if (one.is_negative())
          open.dim = first;
        else
          c.as_size(one);
        ++first;
      }
      continue;
    }
    if (size.kind != ArgKind::Node || c.subject.types[0][size.node].constant != ArgKind::Int)
      return unsupported("a size that the graph computes");
    open.in_some.emplace_back(first++, c.graph.node(size.node).name);
  }
  return open;
}

/// Finds sizes that are -1. all: the elements of the result.
Result<void> find_open(Context& c, Open open, const std::vector<ValueType>& types, SizeId all) {
  const size_t rank = types[0].tensor.shape.size();
  const auto is_one_of = [&](const std::string& text, SizeId size) {
    c.sizes.require(fmt::format("{} in (-1, {})", text, c.sizes.plan_text(size)));
  };
  for (const auto& [at, text] : open.in_some) {
    if (at >= rank) return unsupported("a shape of another rank in each graph");
    if (const Result<SizeId> known = c.size_of(types, at))
      is_one_of(text, *known);
    else if (!open.dim)
      open.dim = at;
    else
      return unsupported("a size that follows from no dimension of an input");
  }
  if (!open.dim) return {};
  std::vector<SizeId> rest;
  for (size_t at = 0; at < rank; ++at) {
    if (at == *open.dim) continue;
    PASSNET_TRY(rest.emplace_back(), c.size_of(types, at));
  }
  PASSNET_TRY(const SizeId left, c.sizes.quotient(all, c.sizes.product(rest)));
  if (c.sizes.values(left) != sizes_along(types, *open.dim))
    return unsupported("a shape that does not follow from its operand's");
  for (const auto& [at, text] : open.in_some) {
    if (at == *open.dim) is_one_of(text, left);
  }
  return {};
}

/// Dimensions that became one, or several, go on as the loops that they are made of. Empty: the operand has none, or the two do not
/// go into each other.
std::vector<SizeId> loops_of_reshape(Context& c, TensorId of, const std::vector<SizeId>& to) {
  const std::vector<SizeId>& from = c.tensors[of].loops;
  if (from.empty()) return {};
  std::vector<SizeId> loops;
  const auto is_loop = [&](SizeId size) { return !c.sizes.is_one(size); };
  for (const IndexTable::Run& run : c.indices.runs(to, from)) {
    std::vector<SizeId> one, other;
    std::copy_if(to.begin() + static_cast<ptrdiff_t>(run.first_to), to.begin() + static_cast<ptrdiff_t>(run.end_to),
                 std::back_inserter(one), is_loop);
    std::copy_if(from.begin() + static_cast<ptrdiff_t>(run.first_from),
                 from.begin() + static_cast<ptrdiff_t>(run.end_from), std::back_inserter(other), is_loop);
    // The plan asks whether they are as many, which the sizes of a graph may follow from as a whole alone.
    if ((one.size() > 1 && other.size() > 1) || c.sizes.product(one) != c.sizes.product(other)) return {};
    const std::vector<SizeId>& finer = one.size() > other.size() ? one : other;
    loops.insert(loops.end(), finer.begin(), finer.end());
  }
  return loops;
}

/// Defines elements in the same order, in the shape that the result has.
Result<void> in_its_shape(Context& c, const Arguments& call, TensorId of) {
  const std::vector<ValueType> types = c.subject.types_of(call.id());
  const std::vector<SizeId> from = c.tensors[of].shape;
  std::vector<SizeId> to;
  for (size_t dim = 0; dim < types[0].tensor.shape.size(); ++dim) {
    PASSNET_TRY(to.emplace_back(), c.size_of(types, dim));
  }
  // A dimension of one element may make it a view of its operand.
  if (c.subject.is_apart && !shares_memory(c.subject, call.id())) {
    for (const SizeId size : from) {
      if (!c.sizes.number(size) && c.sizes.smallest(size) > 1)
        c.sizes.require(fmt::format("{} > 1", c.sizes.plan_text(size)));
    }
  }
  const auto place_of = [to, from](Scope& scope, const Place& place) { return scope.indices.reshape(place, to, from); };
  return c.define_view(call.id(), of, place_of, loops_of_reshape(c, of, to));
}

}  // namespace

Result<void> same(Context& c, const Arguments& call, TensorId x) {
  return c.define_view(call.id(), x, [](Scope&, const Place& place) { return place; });
}

Result<void> dropout(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const bool training, call.flag("training"));
  if (training) return unsupported("dropout in training draws random numbers");
  return same(c, call, x);
}

Result<void> conversion(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const Tensor result, c.result_of(call.id()));
  return result.element == c.tensors[x].element ? same(c, call, x) : pointwise(c, call);
}

Result<void> expand(Context& c, const Arguments& call, TensorId x) {
  c.know_sizes(call.at("size"));
  return c.define_view(call.id(), x,
                       [&c, x](Scope& scope, const Place& place) { return c.broadcast(scope, x, place); });
}

Result<void> permute(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(std::vector<int64_t> order, call.integers("dims"));
  for (int64_t& dim : order) dim += dim < 0 ? c.rank(x) : 0;
  return reordered(c, call, x, order);
}

Result<void> transpose(Context& c, const Arguments& call, TensorId x) {
  std::vector<int64_t> order = in_order(c.rank(x));
  PASSNET_TRY(const int64_t a, call.dimension("dim0", c.rank(x)));
  PASSNET_TRY(const int64_t b, call.dimension("dim1", c.rank(x)));
  if (!order.empty()) std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return reordered(c, call, x, order);
}

Result<void> matrix_transpose(Context& c, const Arguments& call, TensorId x) {
  std::vector<int64_t> order = in_order(c.rank(x));
  if (order.size() < 2) return unsupported("mT of fewer than two dimensions");
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return reordered(c, call, x, order);
}

Result<void> reversed_dimensions(Context& c, const Arguments& call, TensorId x) {
  std::vector<int64_t> order = in_order(c.rank(x));
  std::ranges::reverse(order);
  return reordered(c, call, x, order);
}

Result<void> movedim(Context& c, const Arguments& call, TensorId x) {
  const int64_t rank = c.rank(x);
  std::vector<int64_t> order = in_order(rank);
  PASSNET_TRY(const std::vector<int64_t> from, call.integers("source"));
  PASSNET_TRY(const std::vector<int64_t> to, call.integers("destination"));
  if (from.size() != 1 || to.size() != 1) return unsupported("movedim of several dimensions");
  const int64_t moved = from[0] + (from[0] < 0 ? rank : 0);
  std::erase(order, moved);
  order.insert(order.begin() + (to[0] + (to[0] < 0 ? rank : 0)), moved);
  return reordered(c, call, x, order);
}

Result<void> flip(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const std::vector<int64_t> dims, call.dimensions("dims", c.rank(x)));
  return c.define_view(call.id(), x, [&c, x, dims](Scope& scope, const Place& place) {
    Place from = place;
    for (const int64_t dim : dims) {
      const auto at = static_cast<size_t>(dim);
      const IndexId last = scope.indices.add(scope.indices.size(c.tensors[x].shape[at]), scope.indices.constant(-1));
      from[at] = scope.indices.subtract(last, place[at]);
    }
    return from;
  });
}

Result<void> reshape(Context& c, const Arguments& call, TensorId of) {
  const std::vector<ValueType> types = c.subject.types_of(call.id());
  const SizeId all = c.sizes.product(c.tensors[of].shape);
  size_t first = 0;
  if (call.name() == "unflatten") {
    PASSNET_TRY(const int64_t dim, call.dimension("dim", c.rank(of)));
    first = static_cast<size_t>(dim);
  }
  const char* const parameter = call.name() == "view" ? "size" : call.name() == "reshape" ? "shape" : "sizes";
  PASSNET_TRY(Open open, sizes_given(c, call.at(parameter), first, types[0].tensor.shape.size()));
  PASSNET_TRY_VOID(find_open(c, std::move(open), types, all));
  return in_its_shape(c, call, of);
}

Result<void> reshape_alike(Context& c, const Arguments& call, TensorId of) {
  c.sizes.product(c.tensors[of].shape);
  return in_its_shape(c, call, of);
}

Result<void> flatten(Context& c, const Arguments& call, TensorId of) {
  const std::vector<SizeId> from = c.tensors[of].shape;
  c.sizes.product(from);
  int64_t start = 0, end = c.rank(of) - 1;
  if (call.name() == "flatten") {
    PASSNET_TRY(start, call.dimension("start_dim", c.rank(of)));
    PASSNET_TRY(end, call.dimension("end_dim", c.rank(of)));
  }
  // Neighbours that become one.
  SizeId run = c.sizes.one();
  for (auto i = static_cast<size_t>(start); i <= static_cast<size_t>(end) && i < from.size(); ++i)
    run = c.sizes.product(run, from[i]);
  return in_its_shape(c, call, of);
}

Result<void> roll(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const std::vector<Number> shifts, c.numbers(call.at("shifts")));
  const int64_t rank = c.rank(x);
  if (!call.given("dims")) return unsupported("rolling of all elements");
  PASSNET_TRY(std::vector<int64_t> dims, call.integers("dims"));
  if (dims.size() != shifts.size()) return unsupported("rolling by other numbers than dimensions");
  std::vector<std::pair<size_t, IndexId>> rolled;  // where the first element comes from
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[i] < 0 ? dims[i] + rank : dims[i];
    if (dim < 0 || dim >= rank) return unsupported("'dims' is no dimension");
    const SizeId size = c.tensors[x].shape[static_cast<size_t>(dim)], by = c.magnitude(shifts[i]);
    for (size_t e = 0; e < c.sizes.values(size).size(); ++e) {
      if (c.sizes.values(size)[e] < c.sizes.values(by)[e]) return unsupported("rolling by more than there is");
    }
    c.sizes.require(fmt::format("{} >= {}", c.sizes.plan_text(size), c.sizes.plan_text(by)));
    const Number& back = shifts[i];
    if (back.is(0)) continue;
    // To the right by some is to the left by the others.
    const IndexId distance = back.is_literal() ? c.indices.constant(std::abs(back.values[0])) : c.indices.size(by);
    rolled.emplace_back(static_cast<size_t>(dim),
                        back.is_negative() ? distance : c.indices.subtract(c.indices.size(size), distance));
  }
  return c.define_view(call.id(), x, [&c, x, rolled](Scope& scope, const Place& place) {
    Place own = place;
    for (const auto& [dim, from] : rolled)
      own[dim] = scope.indices.remainder(scope.indices.add(own[dim], from), c.tensors[x].shape[dim]);
    return own;
  });
}

}  // namespace passnet::author::op
