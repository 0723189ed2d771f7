// Parts of tensors: slices, and what chunk, split and the like give as several tensors.
#include <fmt/format.h>

#include <algorithm>

#include "author/define/operators.h"

namespace passnet::author::op {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

bool is_list(const std::vector<ValueType>& types) {
  return std::ranges::all_of(types, [](const ValueType& type) { return type.kind == ValueType::Kind::List; });
}

/// Defines the elements of `of` at one place along a dimension, which the result lacks.
Result<void> at_place(Context& c, NodeId id, TensorId of, int64_t dim, IndexId from) {
  return c.define_view(id, of, [dim, from](Scope&, const Place& place) {
    Place own = place;
    own.insert(own.begin() + dim, from);
    return own;
  });
}

Result<void> slice(Context& c, NodeId id, TensorId of, int64_t dim, IndexId start) {
  PASSNET_TRY_VOID(c.define_view(id, of, [dim, start](Scope& scope, const Place& place) {
    Place own = place;
    IndexId& at = own[static_cast<size_t>(dim)];
    at = scope.indices.add(at, start);
    return own;
  }));
  c.tensors.back().part_of = {dim, start};
  return {};
}

// Parts of one size, but for the last, which is what is left.
Result<void> equal_part(Context& c, NodeId id, TensorId of, int64_t dim, SizeId each, int64_t at) {
  const SizeId length = c.tensors[of].shape[static_cast<size_t>(dim)];
  const SizeId before = c.sizes.product(each, c.sizes.literal(at)),
               end = c.sizes.product(each, c.sizes.literal(at + 1));
  size_t whole = 0;
  for (size_t e = 0; e < c.sizes.values(end).size(); ++e)
    whole += c.sizes.values(end)[e] <= c.sizes.values(length)[e] ? 1 : 0;
  if (whole == c.sizes.values(end).size()) {
    c.sizes.require_at_most(end, length);
  } else if (whole == 0) {
    c.sizes.require(fmt::format("{} > {}", c.sizes.plan_text(end), c.sizes.plan_text(length)));
    c.sizes.difference(length, before);
  } else {
    return unsupported("a last part that is shorter than the others in some of the graphs");
  }
  return slice(c, id, of, dim, c.indices.scale(c.indices.constant(at), each));
}

// Parts of tensor_split: so many of which the first are longer by one where they are not even, or those between given places.
Result<void> cut_part(Context& c, NodeId id, TensorId x, const Arg& sections, int64_t dim, int64_t at) {
  const SizeId length = c.tensors[x].shape[static_cast<size_t>(dim)];
  if (is_sequence(sections)) {
    const auto places = c.graph.elements(sections);
    const auto count = static_cast<int64_t>(places.size());
    PASSNET_TRY(const Context::Cut taken,
                c.cut_by(at == 0 ? Arg::none() : places[static_cast<size_t>(at - 1)],
                         at == count ? Arg::none() : places[static_cast<size_t>(at)], 1, length));
    return slice(c, id, x, dim, taken.start);
  }
  PASSNET_TRY(const Number number, c.number(sections));
  if (!number.is_literal() || number.values[0] < 1) return unsupported("parts of another number in each graph");
  const int64_t parts = number.values[0];
  const ByExample lengths = c.sizes.values(length);
  const int64_t longer = lengths[0] % parts;
  if (std::ranges::any_of(lengths, [&](int64_t one) { return one % parts != longer; }))
    return unsupported("parts that are longer than others in some of the graphs");
  if (longer == 0) {
    PASSNET_TRY(const SizeId each, c.sizes.quotient(length, c.sizes.literal(parts)));
    return slice(c, id, x, dim, c.indices.scale(c.indices.constant(at), each));
  }
  c.sizes.require(fmt::format("{} % {} == {}", c.sizes.plan_text(length), parts, longer));
  const SizeId each = c.sizes.whole_quotient(length, c.sizes.literal(parts));
  c.sizes.sum(each, c.sizes.one());
  return slice(c, id, x, dim,
               c.indices.add(c.indices.scale(c.indices.constant(at), each), c.indices.constant(std::min(at, longer))));
}

// Each tensor along a dimension of its own.
Result<void> mesh(Context& c, NodeId id, const Arguments& call, size_t at) {
  const Arg& list = call.at("tensors");
  if (!is_sequence(list)) return unsupported("no list of tensors");
  const auto tensors = c.graph.elements(list);
  PASSNET_TRY(const TensorId x, c.tensor(tensors[at]));
  const bool swaps = call.given("indexing") && call.hold("indexing=\"xy\"") && tensors.size() > 1;
  const size_t dim = swaps && at < 2 ? 1 - at : at;
  if (c.tensors[x].shape.size() > 1) return unsupported("a grid of tensors of several dimensions");
  const bool is_number = c.tensors[x].shape.empty();
  return c.define_view(id, x, [=](Scope&, const Place& place) { return is_number ? Place() : Place{place[dim]}; });
}

// One of the parts that chunk, split or unbind gave: parts follow each other along one dimension.
Result<void> part_of(Context& c, const Arguments& call, NodeId whole) {
  PASSNET_TRY(int64_t at, call.integer("index"));
  PASSNET_TRY(const ir::CanonicalCall canonical, ir::canonicalize(c.graph, whole));
  const Arguments cut(c.graph, whole, canonical);
  const NodeId id = call.id();
  const std::string_view name = canonical.name;
  const auto count = static_cast<int64_t>(c.subject.types[0][whole].list.size());
  if (at < 0) at += count;
  if (at < 0 || at >= count) return unsupported("a part that is not there");
  if (name == "meshgrid") return mesh(c, id, cut, static_cast<size_t>(at));
  PASSNET_TRY(const TensorId x, c.tensor(cut.at("input")));
  if (name == "max" || name == "min") return best(c, id, cut, x, name == "max", at == 1);
  PASSNET_TRY(const int64_t dim, cut.dimension("dim", c.rank(x)));
  const SizeId length = c.tensors[x].shape[static_cast<size_t>(dim)];
  if (name == "unbind") {
    const IndexId from = c.indices.constant(at);
    PASSNET_TRY_VOID(at_place(c, id, x, dim, from));
    c.tensors.back().part_of = {dim, from};
    return {};
  }
  if (name == "tensor_split") return cut_part(c, id, x, cut.at("sections"), dim, at);
  if (name != "chunk" && name != "split") return unsupported(fmt::format("parts of {}", name));
  const Arg& split = cut.at("split_size");
  if (name == "split") {
    const bool is_one = split.kind == ArgKind::Int ||
                        (split.kind == ArgKind::Node && c.subject.types[0][split.node].constant == ArgKind::Int);
    PASSNET_TRY(const std::vector<Number> sizes, c.numbers(split));
    if (is_one) return equal_part(c, id, x, dim, c.as_size(sizes[0]), at);
    if (at >= static_cast<int64_t>(sizes.size())) return unsupported("a part that is not there");
    IndexId start = c.indices.zero();
    for (size_t i = 0; i < static_cast<size_t>(at); ++i) start = c.indices.add(start, c.counted(sizes[i], length));
    c.as_size(sizes[static_cast<size_t>(at)]);
    return slice(c, id, x, dim, start);
  }
  PASSNET_TRY(const int64_t chunks, cut.integer("chunks"));
  const bool even = std::ranges::all_of(c.sizes.values(length), [&](int64_t one) { return one % chunks == 0; });
  if (!even) {
    const SizeId more = c.sizes.sum(length, c.sizes.literal(chunks - 1));
    return equal_part(c, id, x, dim, c.sizes.whole_quotient(more, c.sizes.literal(chunks)), at);
  }
  PASSNET_TRY(const SizeId each, c.sizes.quotient(length, c.sizes.literal(chunks)));
  return slice(c, id, x, dim, c.indices.scale(c.indices.constant(at), each));
}

}  // namespace

Result<void> several(Context& c, const Arguments& call) {
  // Taken apart where it is indexed.
  if (is_list(c.subject.types_of(call.id()))) return {};
  return unsupported("what it gives is no tuple of tensors");
}

Result<void> narrow(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const int64_t dim, call.dimension("dim", c.rank(x)));
  PASSNET_TRY(const Number start, c.number(call.at("start")));
  const IndexId from = c.counted(start, c.tensors[x].shape[static_cast<size_t>(dim)]);
  c.know_sizes(call.at("length"));
  return slice(c, call.id(), x, dim, from);
}

Result<void> select(Context& c, const Arguments& call, TensorId x) {
  PASSNET_TRY(const int64_t dim, call.dimension("dim", c.rank(x)));
  PASSNET_TRY(const Number at, c.number(call.at("index")));
  return at_place(c, call.id(), x, dim, c.counted(at, c.tensors[x].shape[static_cast<size_t>(dim)]));
}

Result<Indexed> indexed_by(Context& c, const Arg& arg, const std::vector<SizeId>& shape) {
  const std::span<const Arg> items = arg.kind == ArgKind::Tuple ? c.graph.elements(arg) : std::span<const Arg>(&arg, 1);
  size_t given = 0;
  for (const Arg& item : items) given += item.kind == ArgKind::Ellipsis || item.kind == ArgKind::None ? 0 : 1;
  if (given > shape.size()) return unsupported("more indices than dimensions");
  Indexed made;
  const auto whole = [&] {
    made.from.push_back({made.rank++, c.indices.zero(), c.sizes.one(), shape[made.from.size()]});
  };
  for (const Arg& item : items) {
    if (item.kind == ArgKind::None) {
      ++made.rank;
      continue;
    }
    if (item.kind == ArgKind::Ellipsis) {
      for (size_t i = given; i < shape.size(); ++i) whole();
      continue;
    }
    const SizeId length = shape[made.from.size()];
    if (item.kind != ArgKind::Slice) {
      PASSNET_TRY(const Number at, c.number(item));
      made.from.push_back({std::nullopt, c.counted(at, length), c.sizes.one(), c.sizes.one()});
      continue;
    }
    const auto bounds = c.graph.elements(item);
    if (bounds[2].kind != ArgKind::None && bounds[2].kind != ArgKind::Int)
      return unsupported("a slice with computed steps");
    const int64_t step = bounds[2].kind == ArgKind::Int ? bounds[2].integer : 1;
    if (step < 1) return unsupported("a slice backwards");
    PASSNET_TRY(const Context::Cut taken, c.cut_by(bounds[0], bounds[1], step, length));
    made.from.push_back({made.rank++, taken.start, c.sizes.literal(step), taken.count});
  }
  while (made.from.size() < shape.size()) whole();
  return made;
}

Result<void> getitem(Context& c, const Arguments& call) {
  const Arg& object = call.at("input");
  if (object.kind != ArgKind::Node) return unsupported("an index of a constant");
  if (!c.tensor_of[object.node]) {
    if (is_list(c.subject.types_of(object.node))) return part_of(c, call, object.node);
    return unsupported("an index of what is no tensor");
  }
  const TensorId x = *c.tensor_of[object.node];
  const std::vector<SizeId> shape = c.tensors[x].shape;
  const Arg& arg = call.at("index");
  if (const std::optional<TensorId> table = c.optional_tensor(arg)) return look_up(c, call.id(), x, *table, 0);
  PASSNET_TRY(const Indexed indexed, indexed_by(c, arg, shape));
  const std::vector<ValueType> types = c.subject.types_of(call.id());
  if (indexed.rank != types[0].tensor.shape.size())
    return unsupported("an index of other dimensions than its result has");
  for (const From& one : indexed.from) {
    if (!one.dim) continue;
    if (c.sizes.values(one.count) != sizes_along(types, *one.dim))
      return unsupported("a slice whose size does not follow from its operand's");
  }
  return c.define_view(call.id(), x, [from = indexed.from](Scope& scope, const Place& place) {
    Place own;
    for (const From& one : from) {
      const IndexId at = one.dim ? place[*one.dim] : scope.indices.zero();
      own.push_back(scope.indices.add(scope.indices.scale(at, one.step), one.start));
    }
    return own;
  });
}

}  // namespace passnet::author::op
