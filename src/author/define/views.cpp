// Operators that move elements and change none: where each element of the result comes from.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "author/define/definitions.h"
#include "author/subject/memory.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

bool is_list(const std::vector<ValueType>& types) {
  return std::ranges::all_of(types, [](const ValueType& type) { return type.kind == ValueType::Kind::List; });
}

}  // namespace

Result<void> Definitions::define_view(NodeId id, TensorId of, std::function<Place(Scope&, const Place&)> place,
                                      std::vector<SizeId> loops) {
  PASSNET_TRY(Tensor result, result_of(id));
  result.loops = std::move(loops);
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
  const bool gives_two = (name == "max" || name == "min") && call.given("dim");
  if (name == "chunk" || name == "split" || name == "tensor_split" || name == "unbind" || name == "meshgrid" ||
      gives_two) {
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
    if (name != "expand_as") know_sizes(call.at("size"));
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
    const auto place_of = [order](Scope&, const Place& place) {
      Place from(place.size());
      for (size_t i = 0; i < order.size(); ++i) from[static_cast<size_t>(order[i])] = place[i];
      return from;
    };
    PASSNET_TRY_VOID(define_view(id, x, place_of, loops_in_order(x, order)));
    return true;
  }
  if (name == "roll") {
    PASSNET_TRY_VOID(roll(id, call));
    return true;
  }
  if (name == "flip") {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    PASSNET_TRY(const std::vector<int64_t> dims,
                call.dimensions("dims", static_cast<int64_t>(tensors_[x].shape.size())));
    PASSNET_TRY_VOID(define_view(id, x, [this, x, dims](Scope& scope, const Place& place) {
      IndexTable& indices = scope.indices();
      Place from = place;
      for (const int64_t dim : dims) {
        const auto at = static_cast<size_t>(dim);
        const IndexId last = indices.add(indices.size(tensors_[x].shape[at]), indices.constant(-1));
        from[at] = indices.subtract(last, place[at]);
      }
      return from;
    }));
    return true;
  }
  if (name == "narrow" || name == "select") {
    PASSNET_TRY(const TensorId x, tensor(call.at("input")));
    const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
    PASSNET_TRY(const int64_t dim, call.dimension("dim", rank));
    PASSNET_TRY(const Number start, number(call.at(name == "narrow" ? "start" : "index")));
    const IndexId from = counted(start, tensors_[x].shape[static_cast<size_t>(dim)]);
    if (name == "narrow") {
      know_sizes(call.at("length"));
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
  std::vector<std::pair<size_t, std::string>> sometimes_open;
  std::vector<SizeId> rest;
  if (!parameter.empty()) {
    const Arg& arg = call.at(parameter);
    size_t first = 0;
    if (name == "unflatten") {
      PASSNET_TRY(const int64_t dim, call.dimension("dim", static_cast<int64_t>(from.size())));
      first = static_cast<size_t>(dim);
    }
    const auto sizes =
        arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List ? graph_.elements(arg) : std::span<const Arg>(&arg, 1);
    for (const Arg& size : sizes) {
      if (size.kind == ArgKind::DType) return unsupported("a view of another dtype");
      if (const Result<std::vector<Number>> given = numbers(size)) {
        for (const Number& one : *given) {
          if (first >= rank) return unsupported("a shape of another rank in each graph");
          if (one.is_negative())
            open = first;
          else
            as_size(one);
          ++first;
        }
        continue;
      }
      if (size.kind != ArgKind::Node || subject_.types[0][size.node].constant != ArgKind::Int)
        return unsupported("a size that the graph computes");
      // It is -1 in some of the graphs.
      sometimes_open.emplace_back(first++, graph_.node(size.node).name);
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
  for (const auto& [at, text] : sometimes_open) {
    if (at >= rank) return unsupported("a shape of another rank in each graph");
    if (const Result<SizeId> known = size_of(types, at))
      sizes_.require(fmt::format("{} in (-1, {})", text, sizes_.plan_text(*known)));
    else if (!open)
      open = at;
    else
      return unsupported("a size that follows from no dimension of an input");
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
    for (const auto& [at, text] : sometimes_open) {
      if (at == *open) sizes_.require(fmt::format("{} in (-1, {})", text, sizes_.plan_text(left)));
    }
  }
  std::vector<SizeId> to;
  for (size_t dim = 0; dim < rank; ++dim) {
    PASSNET_TRY(to.emplace_back(), size_of(types, dim));
  }
  // A dimension of one element may make it a view of its operand.
  if (subject_.is_apart && !shares_memory(subject_, id)) {
    for (const SizeId size : from) {
      if (!sizes_.number(size) && sizes_.smallest(size) > 1)
        sizes_.require(fmt::format("{} > 1", sizes_.plan_text(size)));
    }
  }
  const auto place_of = [to, from](Scope& scope, const Place& place) {
    return scope.indices().reshape(place, to, from);
  };
  return define_view(id, of, place_of, loops_of_reshape(of, to));
}

/// Dimensions that became one, or several, go on as the loops that they are made of. Empty: the operand has none, or the two do not
/// go into each other.
std::vector<SizeId> Definitions::loops_of_reshape(TensorId of, const std::vector<SizeId>& to) {
  const std::vector<SizeId>& from = tensors_[of].loops;
  if (from.empty()) return {};
  std::vector<SizeId> loops;
  const auto is_loop = [&](SizeId size) { return !sizes_.is_one(size); };
  for (const IndexTable::Run& run : indices_.runs(to, from)) {
    std::vector<SizeId> one, other;
    std::copy_if(to.begin() + static_cast<ptrdiff_t>(run.first_to), to.begin() + static_cast<ptrdiff_t>(run.end_to),
                 std::back_inserter(one), is_loop);
    std::copy_if(from.begin() + static_cast<ptrdiff_t>(run.first_from),
                 from.begin() + static_cast<ptrdiff_t>(run.end_from), std::back_inserter(other), is_loop);
    // The plan asks whether they are as many, which the sizes of a graph may follow from as a whole alone.
    if ((one.size() > 1 && other.size() > 1) || sizes_.product(one) != sizes_.product(other)) return {};
    const std::vector<SizeId>& finer = one.size() > other.size() ? one : other;
    loops.insert(loops.end(), finer.begin(), finer.end());
  }
  return loops;
}

/// The loops of its dimensions in that order.
std::vector<SizeId> Definitions::loops_in_order(TensorId of, const std::vector<int64_t>& order) const {
  const Tensor& tensor = tensors_[of];
  if (tensor.loops.empty()) return {};
  std::vector<std::vector<SizeId>> of_dimension(tensor.shape.size());
  for (const IndexTable::Run& run : indices_.runs(tensor.shape, tensor.loops)) {
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

Result<void> Definitions::roll(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const std::vector<Number> shifts, numbers(call.at("shifts")));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  if (!call.given("dims")) return unsupported("rolling of all elements");
  PASSNET_TRY(std::vector<int64_t> dims, call.integers("dims"));
  if (dims.size() != shifts.size()) return unsupported("rolling by other numbers than dimensions");
  std::vector<std::pair<size_t, IndexId>> rolled;  // where the first element comes from
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[i] < 0 ? dims[i] + rank : dims[i];
    if (dim < 0 || dim >= rank) return unsupported("'dims' is no dimension");
    const SizeId size = tensors_[x].shape[static_cast<size_t>(dim)], by = magnitude(shifts[i]);
    for (size_t e = 0; e < sizes_.values(size).size(); ++e) {
      if (sizes_.values(size)[e] < sizes_.values(by)[e]) return unsupported("rolling by more than there is");
    }
    sizes_.require(fmt::format("{} >= {}", sizes_.plan_text(size), sizes_.plan_text(by)));
    const Number& back = shifts[i];
    if (back.is(0)) continue;
    // To the right by some is to the left by the others.
    const IndexId distance = back.is_literal() ? indices_.constant(std::abs(back.values[0])) : indices_.size(by);
    rolled.emplace_back(static_cast<size_t>(dim),
                        back.is_negative() ? distance : indices_.subtract(indices_.size(size), distance));
  }
  return define_view(id, x, [this, x, rolled](Scope& scope, const Place& place) {
    IndexTable& indices = scope.indices();
    Place own = place;
    for (const auto& [dim, from] : rolled)
      own[dim] = indices.remainder(indices.add(own[dim], from), tensors_[x].shape[dim]);
    return own;
  });
}

Result<void> Definitions::slice(NodeId id, TensorId of, int64_t dim, IndexId start) {
  PASSNET_TRY_VOID(define_view(id, of, [dim, start](Scope& scope, const Place& place) {
    Place own = place;
    IndexId& at = own[static_cast<size_t>(dim)];
    at = scope.indices().add(at, start);
    return own;
  }));
  tensors_.back().part_of = {dim, start};
  return {};
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
  PASSNET_TRY(const Indexed indexed, indexed_by(arg, shape));
  const std::vector<ValueType> types = subject_.types_of(id);
  if (indexed.rank != types[0].tensor.shape.size())
    return unsupported("an index of other dimensions than its result has");
  for (const From& one : indexed.from) {
    if (!one.dim) continue;
    ByExample values;
    for (const ValueType& type : types) values.push_back(type.tensor.shape[*one.dim]);
    if (sizes_.values(one.count) != values) return unsupported("a slice whose size does not follow from its operand's");
  }
  return define_view(id, x, [from = indexed.from](Scope& scope, const Place& place) {
    IndexTable& indices = scope.indices();
    Place own;
    for (const From& one : from) {
      const IndexId at = one.dim ? place[*one.dim] : indices.zero();
      own.push_back(indices.add(indices.scale(at, one.step), one.start));
    }
    return own;
  });
}

Result<Definitions::Indexed> Definitions::indexed_by(const Arg& arg, const std::vector<SizeId>& shape) {
  const std::span<const Arg> items = arg.kind == ArgKind::Tuple ? graph_.elements(arg) : std::span<const Arg>(&arg, 1);
  size_t given = 0;
  for (const Arg& item : items) given += item.kind == ArgKind::Ellipsis || item.kind == ArgKind::None ? 0 : 1;
  if (given > shape.size()) return unsupported("more indices than dimensions");
  Indexed made;
  const auto whole = [&] {
    made.from.push_back({made.rank++, indices_.zero(), sizes_.one(), shape[made.from.size()]});
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
      PASSNET_TRY(const Number at, number(item));
      made.from.push_back({std::nullopt, counted(at, length), sizes_.one(), sizes_.one()});
      continue;
    }
    const auto bounds = graph_.elements(item);
    if (bounds[2].kind != ArgKind::None && bounds[2].kind != ArgKind::Int)
      return unsupported("a slice with computed steps");
    const int64_t step = bounds[2].kind == ArgKind::Int ? bounds[2].integer : 1;
    if (step < 1) return unsupported("a slice backwards");
    PASSNET_TRY(const Taken taken, taken_by(bounds[0], bounds[1], step, length));
    made.from.push_back({made.rank++, taken.start, sizes_.literal(step), taken.count});
  }
  while (made.from.size() < shape.size()) whole();
  return made;
}

// One of the parts that chunk, split or unbind gave: parts follow each other along one dimension.
Result<void> Definitions::part(NodeId id, NodeId whole, const Arguments& call) {
  PASSNET_TRY(int64_t at, call.integer("index"));
  PASSNET_TRY(const ir::CanonicalCall canonical, ir::canonicalize(graph_, whole));
  const Arguments cut(graph_, canonical);
  const std::string_view name = canonical.name;
  const auto count = static_cast<int64_t>(subject_.types[0][whole].list.size());
  if (at < 0) at += count;
  if (at < 0 || at >= count) return unsupported("a part that is not there");
  if (name == "max" || name == "min") return best(id, cut, name == "max", at == 1);
  if (name == "meshgrid") return mesh(id, cut, static_cast<size_t>(at));
  PASSNET_TRY(const TensorId x, tensor(cut.at("input")));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  PASSNET_TRY(const int64_t dim, cut.dimension("dim", rank));
  const SizeId length = tensors_[x].shape[static_cast<size_t>(dim)];
  if (name == "unbind") {
    const IndexId from = indices_.constant(at);
    PASSNET_TRY_VOID(define_view(id, x, [dim, from](Scope&, const Place& place) {
      Place own = place;
      own.insert(own.begin() + dim, from);
      return own;
    }));
    tensors_.back().part_of = {dim, from};
    return {};
  }
  if (name == "tensor_split") return cut_part(id, x, cut.at("sections"), dim, at);
  if (name != "chunk" && name != "split") return unsupported(fmt::format("parts of {}", name));
  const Arg& split = cut.at("split_size");
  if (name == "split") {
    const bool is_one = split.kind == ArgKind::Int ||
                        (split.kind == ArgKind::Node && subject_.types[0][split.node].constant == ArgKind::Int);
    PASSNET_TRY(const std::vector<Number> sizes, numbers(split));
    if (is_one) return equal_part(id, x, dim, as_size(sizes[0]), at);
    if (at >= static_cast<int64_t>(sizes.size())) return unsupported("a part that is not there");
    IndexId start = indices_.zero();
    for (size_t i = 0; i < static_cast<size_t>(at); ++i) start = indices_.add(start, counted(sizes[i], length));
    as_size(sizes[static_cast<size_t>(at)]);
    return slice(id, x, dim, start);
  }
  PASSNET_TRY(const int64_t chunks, cut.integer("chunks"));
  const bool even = std::ranges::all_of(sizes_.values(length), [&](int64_t one) { return one % chunks == 0; });
  if (!even) {
    const SizeId more = sizes_.sum(length, sizes_.literal(chunks - 1));
    return equal_part(id, x, dim, sizes_.whole_quotient(more, sizes_.literal(chunks)), at);
  }
  PASSNET_TRY(const SizeId each, sizes_.quotient(length, sizes_.literal(chunks)));
  return slice(id, x, dim, indices_.scale(indices_.constant(at), each));
}

// Parts of tensor_split: so many of which the first are longer by one where they are not even, or those between given places.
Result<void> Definitions::cut_part(NodeId id, TensorId x, const Arg& sections, int64_t dim, int64_t at) {
  const SizeId length = tensors_[x].shape[static_cast<size_t>(dim)];
  if (sections.kind == ArgKind::Tuple || sections.kind == ArgKind::List) {
    const auto places = graph_.elements(sections);
    const auto count = static_cast<int64_t>(places.size());
    PASSNET_TRY(const Taken taken, taken_by(at == 0 ? Arg::none() : places[static_cast<size_t>(at - 1)],
                                            at == count ? Arg::none() : places[static_cast<size_t>(at)], 1, length));
    return slice(id, x, dim, taken.start);
  }
  PASSNET_TRY(const Number number, this->number(sections));
  if (!number.is_literal() || number.values[0] < 1) return unsupported("parts of another number in each graph");
  const int64_t parts = number.values[0];
  const ByExample lengths = sizes_.values(length);
  const int64_t longer = lengths[0] % parts;
  if (std::ranges::any_of(lengths, [&](int64_t one) { return one % parts != longer; }))
    return unsupported("parts that are longer than others in some of the graphs");
  if (longer == 0) {
    PASSNET_TRY(const SizeId each, sizes_.quotient(length, sizes_.literal(parts)));
    return slice(id, x, dim, indices_.scale(indices_.constant(at), each));
  }
  sizes_.require(fmt::format("{} % {} == {}", sizes_.plan_text(length), parts, longer));
  const SizeId each = sizes_.whole_quotient(length, sizes_.literal(parts));
  sizes_.sum(each, sizes_.one());
  return slice(id, x, dim,
               indices_.add(indices_.scale(indices_.constant(at), each), indices_.constant(std::min(at, longer))));
}

// Each tensor along a dimension of its own.
Result<void> Definitions::mesh(NodeId id, const Arguments& call, size_t at) {
  const Arg& list = call.at("tensors");
  if (list.kind != ArgKind::Tuple && list.kind != ArgKind::List) return unsupported("no list of tensors");
  const auto tensors = graph_.elements(list);
  PASSNET_TRY(const TensorId x, tensor(tensors[at]));
  const bool swaps = call.given("indexing") && call.hold("indexing=\"xy\"") && tensors.size() > 1;
  const size_t dim = swaps && at < 2 ? 1 - at : at;
  if (tensors_[x].shape.size() > 1) return unsupported("a grid of tensors of several dimensions");
  const bool is_number = tensors_[x].shape.empty();
  return define_view(id, x, [=](Scope&, const Place& place) { return is_number ? Place() : Place{place[dim]}; });
}

// Parts of one size, but for the last, which is what is left.
Result<void> Definitions::equal_part(NodeId id, TensorId of, int64_t dim, SizeId each, int64_t at) {
  const SizeId length = tensors_[of].shape[static_cast<size_t>(dim)];
  const SizeId before = sizes_.product(each, sizes_.literal(at)), end = sizes_.product(each, sizes_.literal(at + 1));
  size_t whole = 0;
  for (size_t e = 0; e < sizes_.values(end).size(); ++e)
    whole += sizes_.values(end)[e] <= sizes_.values(length)[e] ? 1 : 0;
  if (whole == sizes_.values(end).size()) {
    sizes_.require_at_most(end, length);
  } else if (whole == 0) {
    sizes_.require(fmt::format("{} > {}", sizes_.plan_text(end), sizes_.plan_text(length)));
    sizes_.difference(length, before);
  } else {
    return unsupported("a last part that is shorter than the others in some of the graphs");
  }
  return slice(id, of, dim, indices_.scale(indices_.constant(at), each));
}

}  // namespace passnet::author
