// Views: the plan makes them by metadata alone. What PyTorch would copy is copied into a contiguous tensor first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "author/writer.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

bool is_all_constant(const std::vector<ValueType>& types, ValueType::Kind kind) {
  return std::ranges::all_of(types, [kind](const ValueType& type) { return type.kind == kind; });
}

}  // namespace

Result<Value> Writer::view(const std::string& name, const std::vector<std::vector<int64_t>>& shapes, const Value& of,
                           const std::string& text, bool flat) {
  Value made = stored(of);
  made.name = name;
  made.shapes = shapes;
  made.in_group = false;
  made.flat = flat;
  add_line(of.step, fmt::format("{} = {}", name, text), made);
  return made;
}

Result<void> Writer::view(NodeId id, const Value& of, const std::string& text, bool flat) {
  PASSNET_TRY(const Value result, new_value(id));
  if (result.type != of.type) return unsupported("a view of another dtype");
  PASSNET_TRY(values_[id], view(result.name, result.shapes, of, text, flat));
  return {};
}

Result<void> Writer::reshape(NodeId id, const Value& of, const std::string& text) {
  const Value dense = flat(of);
  return view(id, dense, fmt::format("{}.{}", dense.name, text), true);
}

Result<Value> Writer::permuted(const Value& value, const std::vector<int64_t>& order) {
  std::vector<std::vector<int64_t>> shapes;
  for (const auto& shape : value.shapes) {
    shapes.emplace_back();
    for (const int64_t dim : order) shapes.back().push_back(shape[static_cast<size_t>(dim)]);
  }
  return view(fresh(value.name + "_permuted"), shapes, value,
              fmt::format("{}.permute({})", value.name, fmt::join(order, ", ")),
              std::ranges::is_sorted(order) && value.flat);
}

Result<bool> Writer::view_node(NodeId id, const Call& call, std::string_view name) {
  if (name == "getitem") return done(index(id, call));
  if (name == "chunk" || name == "split" || name == "unbind" || name == "tensor_split") {
    if (is_all_constant(subject_.types_of(id), ValueType::Kind::List)) return true;  // taken apart where it is indexed
    return unsupported("what it gives is no tuple of tensors");
  }
  constexpr std::string_view kNames[] = {"view",
                                         "reshape",
                                         "view_as",
                                         "reshape_as",
                                         "flatten",
                                         "unflatten",
                                         "ravel",
                                         "squeeze",
                                         "unsqueeze",
                                         "expand",
                                         "expand_as",
                                         "broadcast_to",
                                         "permute",
                                         "transpose",
                                         "t",
                                         "T",
                                         "mT",
                                         "movedim",
                                         "narrow",
                                         "select",
                                         "detach",
                                         "data",
                                         "contiguous",
                                         "dropout",
                                         "dropout1d",
                                         "dropout2d",
                                         "dropout3d",
                                         "alpha_dropout",
                                         "feature_alpha_dropout",
                                         "pos",
                                         "to",
                                         "type_as"};
  if (std::ranges::find(kNames, name) == std::end(kNames)) return false;
  PASSNET_TRY(const Value x, tensor(argument(call, "input")));
  if (name == "detach" || name == "data" || name == "pos" || (name == "contiguous" && x.flat))
    return values_[id] = x, true;
  if (name.ends_with("dropout") || name.starts_with("dropout")) {
    PASSNET_TRY(const bool training, flag(call, "training"));
    if (training) return unsupported("dropout in training draws random numbers");
    return values_[id] = x, true;
  }
  if (name == "contiguous") return false;  // a copy
  PASSNET_TRY(const Value result, new_value(id));
  if (name == "to" || name == "type_as") {
    if (types_[result.type].by_example != types_[x.type].by_example) return false;  // a conversion
    return values_[id] = x, true;
  }
  if (name == "view" || name == "reshape") {
    const std::string_view parameter = name == "view" ? "size" : "shape";
    if (argument(call, parameter).kind == ArgKind::DType) return unsupported("a view of another dtype");
    PASSNET_TRY(const std::string size, plan_text(call, parameter));
    return done(reshape(id, x, fmt::format("view({})", size)));
  }
  if (name == "view_as" || name == "reshape_as") {
    PASSNET_TRY(const Value other, tensor(argument(call, "other")));
    return done(reshape(id, x, fmt::format("view({}.shape)", stored(other).name)));
  }
  if (name == "ravel") return done(reshape(id, x, "view(-1)"));
  if (name == "flatten") {
    PASSNET_TRY(const int64_t start, integer(call, "start_dim"));
    PASSNET_TRY(const int64_t end, integer(call, "end_dim"));
    return done(reshape(id, x, fmt::format("flatten({}, {})", start, end)));
  }
  if (name == "unflatten") {
    PASSNET_TRY(const int64_t dim, dimension(call, "dim", x.rank()));
    PASSNET_TRY(const std::string sizes, plan_text(call, "sizes"));
    const Value dense = flat(x);
    return done(
        reshape(id, dense,
                fmt::format("view({0}.shape[:{1}] + tuple({2}) + {0}.shape[{3}:])", dense.name, dim, sizes, dim + 1)));
  }
  if (name == "squeeze") {
    std::string which;
    if (given(call, "dim")) {
      PASSNET_TRY(const std::vector<int64_t> dims, dimensions(call, "dim", x.rank()));
      which = fmt::format("({},)", fmt::join(dims, ", "));
    }
    PASSNET_TRY_VOID(view(id, x, fmt::format("{}.squeeze({})", x.name, which), x.flat));
    require(fmt::format("{}.ndim == {}", result.name, result.rank()));  // other sizes may leave another rank
    return true;
  }
  if (name == "unsqueeze") {
    PASSNET_TRY(const int64_t dim, dimension(call, "dim", x.rank() + 1));
    return done(view(id, x, fmt::format("{}.unsqueeze({})", x.name, dim), x.flat));
  }
  if (name == "expand" || name == "broadcast_to") {
    PASSNET_TRY(const std::string size, plan_text(call, "size"));
    return done(view(id, x, fmt::format("{}.expand({})", x.name, size), false));
  }
  if (name == "expand_as") {
    PASSNET_TRY(const Value other, tensor(argument(call, "other")));
    // The view is made after both.
    Value source = stored(x);
    source.step = std::max(source.step, stored(other).step);
    return done(view(id, source, fmt::format("{}.expand({}.shape)", x.name, other.name), false));
  }
  if (name == "permute" || name == "transpose" || name == "t" || name == "T" || name == "mT" || name == "movedim") {
    std::vector<int64_t> order(static_cast<size_t>(x.rank()));
    std::iota(order.begin(), order.end(), 0);
    if (name == "permute") {
      PASSNET_TRY(order, integers(call, "dims"));
      for (int64_t& dim : order) dim += dim < 0 ? x.rank() : 0;
    } else if (name == "transpose") {
      PASSNET_TRY(const int64_t a, dimension(call, "dim0", x.rank()));
      PASSNET_TRY(const int64_t b, dimension(call, "dim1", x.rank()));
      if (x.rank() > 0) std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
    } else if (name == "movedim") {
      PASSNET_TRY(const std::vector<int64_t> from, integers(call, "source"));
      PASSNET_TRY(const std::vector<int64_t> to, integers(call, "destination"));
      if (from.size() != 1 || to.size() != 1) return unsupported("movedim of several dimensions");
      const int64_t moved = from[0] + (from[0] < 0 ? x.rank() : 0);
      std::erase(order, moved);
      order.insert(order.begin() + (to[0] + (to[0] < 0 ? x.rank() : 0)), moved);
    } else if (name == "mT") {
      std::swap(order[order.size() - 1], order[order.size() - 2]);
    } else {
      std::ranges::reverse(order);
    }
    return done(view(id, x, fmt::format("{}.permute({})", x.name, fmt::join(order, ", ")), false));
  }
  if (name == "narrow") {
    PASSNET_TRY(const int64_t dim, dimension(call, "dim", x.rank()));
    PASSNET_TRY(const std::string start, plan_text(call, "start"));
    PASSNET_TRY(const std::string length, plan_text(call, "length"));
    return done(view(id, x, fmt::format("{}.narrow({}, {}, {})", x.name, dim, start, length), false));
  }
  PASSNET_TRY(const int64_t dim, dimension(call, "dim", x.rank()));
  PASSNET_TRY(const std::string at, plan_text(call, "index"));
  return done(view(id, x, fmt::format("{}.select({}, {})", x.name, dim, at), false));
}

Result<void> Writer::index(NodeId id, const Call& call) {
  const Arg& object = argument(call, "input");
  if (object.kind != ArgKind::Node) return unsupported("an index of a constant");
  if (!values_[object.node]) {
    if (is_all_constant(subject_.types_of(object.node), ValueType::Kind::List)) return part(id, object.node, call);
    return unsupported("an index of what is no tensor");
  }
  const Value x = *values_[object.node];
  const Arg& index = argument(call, "index");
  if (const std::optional<Value> table = optional_tensor(index)) return look_up(id, x, *table, 0, true);
  const bool is_tuple = index.kind == ArgKind::Tuple;
  std::vector<std::string> items;
  for (const Arg& item : is_tuple ? graph_.elements(index) : std::span<const Arg>(&index, 1)) {
    if (item.kind == ArgKind::Ellipsis) {
      items.push_back("...");
    } else if (item.kind == ArgKind::Slice) {
      std::vector<std::string> bounds;
      for (const Arg& bound : graph_.elements(item)) {
        bounds.emplace_back();
        if (bound.kind == ArgKind::None) continue;
        PASSNET_TRY(bounds.back(), plan_text(bound));
      }
      if (bounds.size() == 3 && bounds[2].empty()) bounds.pop_back();
      items.push_back(fmt::format("{}", fmt::join(bounds, ":")));
    } else if (item.kind == ArgKind::Int || item.kind == ArgKind::None ||
               (item.kind == ArgKind::Node && !values_[item.node])) {
      PASSNET_TRY(items.emplace_back(), plan_text(item));
    } else {
      return unsupported("an index of tensors and slices together");
    }
  }
  return view(id, x, fmt::format("{}[{}]", x.name, fmt::join(items, ", ")), false);
}

// One of the parts that chunk, split or unbind gave: parts follow each other along one dimension.
Result<void> Writer::part(NodeId id, NodeId whole, const Call& call) {
  PASSNET_TRY(int64_t at, integer(call, "index"));
  if (parts_.contains(whole)) {
    const std::vector<Value>& made = parts_.at(whole);
    if (at < 0) at += static_cast<int64_t>(made.size());
    if (at < 0 || at >= static_cast<int64_t>(made.size())) return unsupported("a part that is not there");
    values_[id] = made[static_cast<size_t>(at)];
    return {};
  }
  PASSNET_TRY(const Call cut, ir::canonicalize(graph_, whole));
  const std::string_view name = cut.name;
  PASSNET_TRY(const Value x, tensor(argument(cut, "input")));
  PASSNET_TRY(const int64_t dim, dimension(cut, "dim", x.rank()));
  const auto count = static_cast<int64_t>(subject_.types[0][whole].list.size());
  if (at < 0) at += count;
  const std::string length = fmt::format("{}.shape[{}]", x.name, dim);
  if (name == "unbind") return view(id, x, fmt::format("{}.select({}, {})", x.name, dim, at), false);
  if (name == "chunk") {
    PASSNET_TRY(const int64_t chunks, integer(cut, "chunks"));
    const std::string each = fmt::format("triton.cdiv({}, {})", length, chunks);
    return view(
        id, x,
        fmt::format("{}.narrow({}, {} * {}, min({}, {} - {} * {}))", x.name, dim, at, each, each, length, at, each),
        false);
  }
  if (name == "split" && argument(cut, "split_size").kind == ArgKind::Int) {
    PASSNET_TRY(const int64_t size, integer(cut, "split_size"));
    return view(id, x,
                fmt::format("{}.narrow({}, {}, min({}, {} - {}))", x.name, dim, at * size, size, length, at * size),
                false);
  }
  if (name == "split") {
    PASSNET_TRY(const std::vector<int64_t> sizes, integers(cut, "split_size"));
    if (at >= static_cast<int64_t>(sizes.size())) return unsupported("a part that is not there");
    const int64_t start = std::accumulate(sizes.begin(), sizes.begin() + at, int64_t{0});
    return view(id, x, fmt::format("{}.narrow({}, {}, {})", x.name, dim, start, sizes[static_cast<size_t>(at)]), false);
  }
  return unsupported(fmt::format("parts of {}", name));
}

}  // namespace passnet::author
