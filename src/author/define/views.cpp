// Operators that move elements and change none: where each element of the result comes from.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "author/define/definitions.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

bool is_list(const std::vector<ValueType>& types) {
  return std::ranges::all_of(types, [](const ValueType& type) { return type.kind == ValueType::Kind::List; });
}

}  // namespace

Result<void> Definitions::define_view(NodeId id, TensorId of, std::function<Place(Scope&, const Place&)> place) {
  PASSNET_TRY(Tensor result, result_of(id));
  if (result.element != tensors_[of].element) return unsupported("a view of another dtype");
  result.is_view = true;
  for (const ValueType& type : subject_.types_of(id)) result.shape.resize(type.tensor.shape.size());
  for (size_t dim = 0; dim < result.shape.size(); ++dim) {
    PASSNET_TRY(result.shape[dim], size_of(subject_.types_of(id), dim));
  }
  return define(id, std::move(result), {of}, 0, [of, place = std::move(place)](Scope& scope, const Place& at) {
    return scope.element(of, place(scope, at));
  });
}

Result<bool> Definitions::view(NodeId id, const Arguments& call, std::string_view name) {
  if (name == "getitem") {
    PASSNET_TRY_VOID(index(id, call));
    return true;
  }
  if (name == "chunk" || name == "split" || name == "unbind" || name == "tensor_split") {
    if (is_list(subject_.types_of(id))) return true;  // taken apart where it is indexed
    return unsupported("what it gives is no tuple of tensors");
  }
  constexpr std::string_view kSame[] = {"detach",
                                        "data",
                                        "pos",
                                        "dropout",
                                        "dropout1d",
                                        "dropout2d",
                                        "dropout3d",
                                        "alpha_dropout",
                                        "contiguous",
                                        "clone",
                                        "feature_alpha_dropout"};
  constexpr std::string_view kReshapes[] = {"view",      "reshape", "view_as",   "reshape_as", "flatten",
                                            "unflatten", "squeeze", "unsqueeze", "ravel"};
  constexpr std::string_view kOrders[] = {"permute", "transpose", "t", "T", "mT", "movedim"};
  const auto is_one_of = [&](const auto& names) { return std::ranges::find(names, name) != std::end(names); };
  if (is_one_of(kSame)) {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    if (name.find("dropout") != std::string_view::npos) {
      PASSNET_TRY(const bool training, call.flag("training"));
      if (training) return unsupported("dropout in training draws random numbers");
    }
    PASSNET_TRY_VOID(define_view(id, x, [](Scope&, const Place& place) { return place; }));
    return true;
  }
  if (name == "to" || name == "type_as") {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    PASSNET_TRY(const Tensor result, result_of(id));
    if (result.element != tensors_[x].element) return false;  // a conversion
    PASSNET_TRY_VOID(define_view(id, x, [](Scope&, const Place& place) { return place; }));
    return true;
  }
  if (is_one_of(kReshapes)) {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    PASSNET_TRY_VOID(reshape(id, x, call, name));
    return true;
  }
  if (name == "expand" || name == "expand_as" || name == "broadcast_to") {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    PASSNET_TRY_VOID(
        define_view(id, x, [this, x](Scope& scope, const Place& place) { return broadcast(scope, x, place); }));
    return true;
  }
  if (is_one_of(kOrders)) {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    if (name == "permute") {
      PASSNET_TRY(order, call.integers("dims"));
      for (int64_t& dim : order) dim += dim < 0 ? rank : 0;
    } else if (name == "transpose") {
      PASSNET_TRY(const int64_t a, call.dimension("dim0", rank));
      PASSNET_TRY(const int64_t b, call.dimension("dim1", rank));
      if (rank > 0) std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
    } else if (name == "movedim") {
      PASSNET_TRY(const std::vector<int64_t> from, call.integers("source"));
      PASSNET_TRY(const std::vector<int64_t> to, call.integers("destination"));
      if (from.size() != 1 || to.size() != 1) return unsupported("movedim of several dimensions");
      const int64_t moved = from[0] + (from[0] < 0 ? rank : 0);
      std::erase(order, moved);
      order.insert(order.begin() + (to[0] + (to[0] < 0 ? rank : 0)), moved);
    } else if (name == "mT") {
      if (rank < 2) return unsupported("mT of fewer than two dimensions");
      std::swap(order[order.size() - 1], order[order.size() - 2]);
    } else {
      std::ranges::reverse(order);
    }
    PASSNET_TRY_VOID(define_view(id, x, [order](Scope&, const Place& place) {
      Place from(place.size());
      for (size_t i = 0; i < order.size(); ++i) from[static_cast<size_t>(order[i])] = place[i];
      return from;
    }));
    return true;
  }
  if (name == "roll") {
    PASSNET_TRY_VOID(roll(id, call));
    return true;
  }
  if (name == "narrow" || name == "select") {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
    PASSNET_TRY(const int64_t dim, call.dimension("dim", rank));
    PASSNET_TRY(const int64_t start, call.integer(name == "narrow" ? "start" : "index"));
    const SizeId length = tensors_[x].shape[static_cast<size_t>(dim)];
    const IndexId from =
        start >= 0 ? indices_.constant(start) : indices_.subtract(indices_.size(length), indices_.constant(-start));
    if (name == "narrow") {
      PASSNET_TRY(const int64_t part, call.integer("length"));
      sizes_.constant(part);
      PASSNET_TRY_VOID(slice(id, x, dim, from));
      return true;
    }
    PASSNET_TRY_VOID(define_view(id, x, [dim, from](Scope&, const Place& place) {
      Place own = place;
      own.insert(own.begin() + dim, from);
      return own;
    }));
    return true;
  }
  return false;
}

Result<void> Definitions::reshape(NodeId id, TensorId of, const Arguments& call, std::string_view name) {
  const std::vector<ValueType> types = subject_.types_of(id);
  const size_t rank = types[0].tensor.shape.size();
  const std::vector<SizeId> from = tensors_[of].shape;
  const SizeId all = sizes_.product(from);
  // Sizes that are written out become known; that of -1 is what is left.
  const std::string_view parameter = name == "view"        ? "size"
                                     : name == "reshape"   ? "shape"
                                     : name == "unflatten" ? "sizes"
                                                           : "";
  std::optional<size_t> open;
  std::vector<SizeId> rest;
  if (!parameter.empty()) {
    const Arg& arg = call.at(parameter);
    if (arg.kind == ArgKind::DType) return unsupported("a view of another dtype");
    const auto sizes =
        arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List ? graph_.elements(arg) : std::span<const Arg>(&arg, 1);
    size_t first = 0;
    if (name == "unflatten") {
      PASSNET_TRY(const int64_t dim, call.dimension("dim", static_cast<int64_t>(from.size())));
      first = static_cast<size_t>(dim);
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      const size_t at = first + i;
      if (at >= rank) return unsupported("a shape of another rank in each graph");
      ByExample values;
      for (const ValueType& type : types) values.push_back(type.tensor.shape[at]);
      if (sizes[i].kind == ArgKind::Int && sizes[i].integer >= 0) {
        sizes_.constant(sizes[i].integer);
      } else if (sizes[i].kind == ArgKind::Int) {
        open = at;
      } else if (sizes[i].kind == ArgKind::Node && subject_.types[0][sizes[i].node].constant == ArgKind::Int) {
        const std::string text(graph_.node(sizes[i].node).name);
        // It may be -1 in one of the graphs.
        if (const std::optional<SizeId> known = sizes_.known(values))
          sizes_.require(fmt::format("{} in (-1, {})", text, sizes_.plan_text(*known)));
        else
          return unsupported("a size that follows from no dimension of an input");
      } else if (sizes[i].kind == ArgKind::Node && subject_.types[0][sizes[i].node].constant == ArgKind::Tuple) {
        return unsupported("a whole shape that differs between the graphs");
      } else {
        return unsupported("a size that the graph computes");
      }
    }
  }
  if (name == "flatten" || name == "ravel") {
    // Neighbours that become one.
    int64_t start = 0, end = static_cast<int64_t>(from.size()) - 1;
    if (name == "flatten") {
      PASSNET_TRY(start, call.dimension("start_dim", static_cast<int64_t>(from.size())));
      PASSNET_TRY(end, call.dimension("end_dim", static_cast<int64_t>(from.size())));
    }
    SizeId run = sizes_.one();
    for (auto i = static_cast<size_t>(start); i <= static_cast<size_t>(end) && i < from.size(); ++i)
      run = sizes_.product(run, from[i]);
  }
  if (open) {
    ByExample values;
    for (const ValueType& type : types) values.push_back(type.tensor.shape[*open]);
    for (size_t at = 0; at < rank; ++at) {
      if (at == *open) continue;
      PASSNET_TRY(rest.emplace_back(), size_of(types, at));
    }
    SizeId of_rest = sizes_.product(rest);
    PASSNET_TRY(const SizeId left, sizes_.quotient(all, of_rest));
    if (sizes_.values(left) != values) return unsupported("a shape that does not follow from its operand's");
  }
  std::vector<SizeId> to;
  for (size_t dim = 0; dim < rank; ++dim) {
    PASSNET_TRY(to.emplace_back(), size_of(types, dim));
  }
  return define_view(id, of,
                     [to, from](Scope& scope, const Place& place) { return scope.indices().reshape(place, to, from); });
}

Result<void> Definitions::roll(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const std::vector<int64_t> shifts, call.integers("shifts"));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  if (!call.given("dims")) return unsupported("rolling of all elements");
  PASSNET_TRY(std::vector<int64_t> dims, call.integers("dims"));
  if (dims.size() != shifts.size()) return unsupported("rolling by other numbers than dimensions");
  std::vector<std::pair<size_t, int64_t>> rolled;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[i] < 0 ? dims[i] + rank : dims[i];
    if (dim < 0 || dim >= rank) return unsupported("'dims' is no dimension");
    const SizeId size = tensors_[x].shape[static_cast<size_t>(dim)];
    const int64_t most = shifts[i] < 0 ? -shifts[i] : shifts[i];
    if (sizes_.smallest(size) < most) return unsupported("rolling by more than there is");
    sizes_.require(fmt::format("{} >= {}", sizes_.plan_text(size), most));
    rolled.emplace_back(static_cast<size_t>(dim), shifts[i]);
  }
  return define_view(id, x, [this, x, rolled](Scope& scope, const Place& place) {
    IndexTable& indices = scope.indices();
    Place own = place;
    for (const auto& [dim, shift] : rolled) {
      const SizeId size = tensors_[x].shape[dim];
      const IndexId by =
          shift > 0 ? indices.subtract(indices.size(size), indices.constant(shift)) : indices.constant(-shift);
      own[dim] = indices.remainder(indices.add(own[dim], by), size);
    }
    return own;
  });
}

Result<void> Definitions::slice(NodeId id, TensorId of, int64_t dim, IndexId start) {
  return define_view(id, of, [dim, start](Scope& scope, const Place& place) {
    Place own = place;
    IndexId& at = own[static_cast<size_t>(dim)];
    at = scope.indices().add(at, start);
    return own;
  });
}

Result<void> Definitions::index(NodeId id, const Arguments& call) {
  const Arg& object = call.at("input");
  if (object.kind != ArgKind::Node) return unsupported("an index of a constant");
  if (!tensor_of_[object.node]) {
    if (is_list(subject_.types_of(object.node))) return part(id, object.node, call);
    return unsupported("an index of what is no tensor");
  }
  const TensorId x = *tensor_of_[object.node];
  const std::vector<SizeId> shape = tensors_[x].shape;
  const Arg& arg = call.at("index");
  if (const std::optional<TensorId> table = optional_tensor(arg)) return look_up(id, x, *table, 0);
  const std::span<const Arg> items = arg.kind == ArgKind::Tuple ? graph_.elements(arg) : std::span<const Arg>(&arg, 1);
  size_t indexed = 0;
  for (const Arg& item : items) indexed += item.kind == ArgKind::Ellipsis || item.kind == ArgKind::None ? 0 : 1;
  if (indexed > shape.size()) return unsupported("more indices than dimensions");
  /// Of each dimension of the operand: where its index comes from.
  struct From {
    std::optional<size_t> dim;  // of the result
    IndexId start = 0;
    SizeId step = 0;  // 1
  };
  std::vector<From> from;
  size_t to = 0;
  const auto whole = [&] { from.push_back({to++, indices_.zero(), sizes_.one()}); };
  const auto counted = [&](int64_t at, SizeId length) {
    return at >= 0 ? indices_.constant(at) : indices_.subtract(indices_.size(length), indices_.constant(-at));
  };
  for (const Arg& item : items) {
    if (item.kind == ArgKind::None) {
      ++to;
      continue;
    }
    if (item.kind == ArgKind::Ellipsis) {
      for (size_t i = indexed; i < shape.size(); ++i) whole();
      continue;
    }
    const SizeId length = shape[from.size()];
    if (item.kind == ArgKind::Int) {
      from.push_back({std::nullopt, counted(item.integer, length), sizes_.one()});
      continue;
    }
    if (item.kind != ArgKind::Slice) return unsupported("an index that is no number and no slice");
    const auto bounds = graph_.elements(item);
    for (const Arg& bound : bounds) {
      if (bound.kind != ArgKind::None && bound.kind != ArgKind::Int)
        return unsupported("a slice whose bounds are computed");
    }
    const int64_t step = bounds[2].kind == ArgKind::Int ? bounds[2].integer : 1;
    if (step < 1) return unsupported("a slice backwards");
    From own{to++, indices_.zero(), sizes_.literal(step)};
    const int64_t start = bounds[0].kind == ArgKind::Int ? bounds[0].integer : 0;
    own.start = counted(start, length);
    // What a slice leaves, where it can be told without looking at sizes.
    ByExample values;
    for (const ValueType& type : subject_.types_of(id)) {
      if (*own.dim >= type.tensor.shape.size()) return unsupported("an index of other dimensions than its result has");
      values.push_back(type.tensor.shape[*own.dim]);
    }
    const ByExample& lengths = sizes_.values(length);
    const bool open = bounds[1].kind == ArgKind::None;
    const int64_t end = open ? 0 : bounds[1].integer;
    SizeId left = length;
    if (step != 1) {
      if (!open || start != 0) return unsupported("a slice with bounds and steps");
      Result<SizeId> even = sizes_.quotient(length, own.step);
      if (!even) return unsupported("a slice with steps that do not divide");
      left = *even;
    } else if (!open && end >= 0) {
      if (start < 0) return unsupported("a slice from the end to a place");
      // Up to a place: as long as that, where the operand reaches as far.
      for (const int64_t own_length : lengths) {
        if (own_length < end) return unsupported("a slice that ends behind its operand");
      }
      sizes_.require(fmt::format("{} >= {}", sizes_.plan_text(length), end));
      left = sizes_.constant(end - start);
    } else if (!open) {
      left = start >= 0 ? sizes_.difference(length, sizes_.literal(start - end)) : sizes_.constant(end - start);
    } else if (start > 0) {
      left = sizes_.difference(length, sizes_.literal(start));
    } else if (start < 0) {
      for (const int64_t own_length : lengths) {
        if (own_length < -start) return unsupported("a slice that begins before its operand");
      }
      sizes_.require(fmt::format("{} >= {}", sizes_.plan_text(length), -start));
      left = sizes_.constant(-start);
    }
    if (sizes_.values(left) != values) return unsupported("a slice whose size does not follow from its operand's");
    from.push_back(own);
  }
  while (from.size() < shape.size()) whole();
  return define_view(id, x, [from](Scope& scope, const Place& place) {
    IndexTable& indices = scope.indices();
    Place own;
    for (const From& one : from) {
      const IndexId at = one.dim ? place[*one.dim] : indices.zero();
      own.push_back(indices.add(indices.scale(at, one.step), one.start));
    }
    return own;
  });
}

// One of the parts that chunk, split or unbind gave: parts follow each other along one dimension.
Result<void> Definitions::part(NodeId id, NodeId whole, const Arguments& call) {
  PASSNET_TRY(int64_t at, call.integer("index"));
  PASSNET_TRY(const ir::CanonicalCall canonical, ir::canonicalize(graph_, whole));
  const Arguments cut(graph_, canonical);
  const std::string_view name = canonical.name;
  PASSNET_TRY(const TensorId x, tensor(cut.at("input")));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  PASSNET_TRY(const int64_t dim, cut.dimension("dim", rank));
  const SizeId length = tensors_[x].shape[static_cast<size_t>(dim)];
  const auto count = static_cast<int64_t>(subject_.types[0][whole].list.size());
  if (at < 0) at += count;
  if (at < 0 || at >= count) return unsupported("a part that is not there");
  if (name == "unbind") {
    const IndexId from = indices_.constant(at);
    return define_view(id, x, [dim, from](Scope&, const Place& place) {
      Place own = place;
      own.insert(own.begin() + dim, from);
      return own;
    });
  }
  if (name == "chunk") {
    PASSNET_TRY(const int64_t chunks, cut.integer("chunks"));
    PASSNET_TRY(const SizeId each, sizes_.quotient(length, sizes_.literal(chunks)));
    return slice(id, x, dim, indices_.scale(indices_.constant(at), each));
  }
  if (name != "split") return unsupported(fmt::format("parts of {}", name));
  PASSNET_TRY(const std::vector<int64_t> sizes, cut.integers("split_size"));
  int64_t start = 0;
  if (cut.at("split_size").kind == ArgKind::Int) {
    start = at * sizes[0];
    sizes_.require(fmt::format("{} % {} == 0", sizes_.plan_text(length), sizes[0]));
    sizes_.constant(sizes[0]);
  } else {
    if (at >= static_cast<int64_t>(sizes.size())) return unsupported("a part that is not there");
    for (int64_t i = 0; i < at; ++i) start += sizes[static_cast<size_t>(i)];
    sizes_.constant(sizes[static_cast<size_t>(at)]);
  }
  return slice(id, x, dim, indices_.constant(start));
}

}  // namespace passnet::author
