#include "dataset/official/size_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

#include "base/strings.h"
#include "dataset/official/graph_copy.h"
#include "fx/trace_names.h"

namespace passnet::dataset::official {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {

using Shape = std::optional<std::vector<int64_t>>;

/// A graph between two passes.
struct State {
  SizedGraph sized;
  std::vector<Shape> shapes;  // as captured, by node id; none: not a tensor
  std::vector<bool> fresh;    // made by the pass before: its shape is not known when a pass decides whether to run
};

/// One pass at work on a graph for one size.
class SizePass {
 public:
  SizePass(const State& before, const ChangingSize& size) : before_(before), size_(size), copying_(graph()) {}

  struct Rule {
    std::string_view name;
    bool of_batch;                              // looks at sizes that inputs have on axis 0; else at the others
    bool (SizePass::*matches)(NodeId) const;    // which calls make it run
    Result<void> (SizePass::*rewrite)(NodeId);  // what it does with a call of `touches`
    bool (SizePass::*touches)(NodeId) const;
    bool with_batch_size = false;  // it takes the batch from the first argument of the graph
  };

  bool is_needed(const Rule& rule) {
    deciding_ = true;
    bool needed = (std::ranges::find(size_.axes, size_t{0}) != size_.axes.end()) == rule.of_batch;
    if (needed) {
      needed = false;
      for (NodeId id = 0; id < graph().size() && !needed; ++id) needed = (this->*rule.matches)(id);
    }
    deciding_ = false;
    return needed;
  }

  Result<State> run(const Rule& rule) {
    for (NodeId id = 0; id < graph().size(); ++id) {
      if ((this->*rule.touches)(id)) {
        PASSNET_TRY_VOID((this->*rule.rewrite)(id));
        continue;
      }
      copy(id);
      if (rule.with_batch_size && !batch_size_ && graph().node(id).kind == NodeKind::Placeholder)
        batch_size_ = size_of(copying_.here(id), 0);
    }
    after_.sized.graph = std::move(copying_.made());
    after_.sized.rewritten = true;
    return std::move(after_);
  }

  // --- Which calls a rule is about ---

  bool is_view(NodeId id) const { return is_method(id, "view"); }
  bool is_reshape(NodeId id) const { return is_method(id, "reshape"); }
  bool is_expand(NodeId id) const { return is_method(id, "expand"); }
  bool is_view_of_batch(NodeId id) const { return is_view(id) && has_literal(id, 1) && is_size(args(id)[1]); }
  bool is_view_to_tuple(NodeId id) const {
    return is_view(id) && args(id).size() == 2 && args(id)[1].kind == ArgKind::Tuple && holds_size(args(id)[1]);
  }
  bool is_expand_of_one(NodeId id) const {
    const Shape shape = is_expand(id) ? shape_of(args(id)[0]) : Shape();
    return shape && !shape->empty() && args(id).size() == shape->size() + 1 && shape->front() == 1 &&
           has_literal(id, 1) && args(id)[1].integer >= 1;
  }
  bool is_reshape_to_one(NodeId id) const {
    if (!is_reshape(id) || args(id).size() != 2) return false;
    const Arg& sizes = args(id)[1];
    if (sizes.kind != ArgKind::Tuple && sizes.kind != ArgKind::List) return false;
    return sizes.count > 0 && is_literal(graph().elements(sizes)[0], 1);
  }
  bool is_view_without_batch(NodeId id) const {
    if (!is_view(id) || args(id).size() != 4 || !has_literal(id, 1) || !is_literal(args(id)[2], -1)) return false;
    const Shape shape = shape_of(args(id)[0]);
    return shape && shape->size() == 4;
  }
  bool is_new_tensor(NodeId id) const {
    static constexpr std::string_view kNew[] = {"torch.zeros", "torch.ones", "torch.empty", "torch.randn",
                                                "torch.rand"};
    const ir::Node& node = graph().node(id);
    return node.kind == NodeKind::CallFunction && std::ranges::find(kNew, node.target) != std::end(kNew);
  }
  bool is_new_tensor_of_size(NodeId id) const { return is_new_tensor(id) && is_made_of(id, 0); }
  bool is_expand_to_size(NodeId id) const {
    return size_.captured > 1 && is_expand(id) &&
           std::ranges::any_of(args(id).subspan(1), [&](const Arg& arg) { return is_size(arg); });
  }
  bool is_range(NodeId id) const {
    if (!is_function(id, "torch.arange")) return false;
    return (args(id).size() == 1 && is_size(args(id)[0])) ||
           (args(id).size() == 2 && is_literal(args(id)[0], 0) && is_size(args(id)[1]));
  }
  bool is_longer_range(NodeId id) const {
    return is_function(id, "torch.arange") && args(id).size() == 1 && is_size(args(id)[0], 1);
  }
  // Upstream looks for a triangle of that size before it looks for ranges.
  bool is_longer_range_beside_triangle(NodeId id) const {
    if (!is_longer_range(id)) return false;
    for (NodeId other = 0; other < graph().size(); ++other) {
      if (!is_function(other, "torch.triu") || args(other).size() != 1) continue;
      const Shape shape = shape_of(args(other)[0]);
      if (shape && std::ranges::find(*shape, size_.captured + 1) != shape->end()) return true;
    }
    return false;
  }
  bool is_full(NodeId id) const { return is_function(id, "torch.full") && args(id).size() == 1 && is_made_of(id, 0); }
  bool is_zeros(NodeId id) const { return is_function(id, "torch.zeros") && args(id).size() == 1 && is_made_of(id, 0); }
  bool is_full_for_triangle(NodeId id) const {
    if (!is_function(id, "torch.full") || args(id).size() != 1 || !is_made_of(id, 1)) return false;
    for (NodeId user = id + 1; user < graph().size(); ++user) {
      bool uses = false;
      for_each_input(graph(), graph().node(user), [&](NodeId input) { uses |= input == id; });
      if (uses && is_function(user, "torch.triu")) return true;
    }
    return false;
  }
  bool is_slice_of_size(NodeId id) const {
    const ir::Node& node = graph().node(id);
    if (node.kind != NodeKind::Operator || node.target != "getitem" || args(id)[1].kind != ArgKind::Tuple) return false;
    return std::ranges::any_of(graph().elements(args(id)[1]),
                               [&](const Arg& item) { return is_head(item) || is_tail(item); });
  }
  bool is_view_to_numbers(NodeId id) const {
    return is_view(id) && has_literal(id, 1) &&
           std::ranges::none_of(args(id).subspan(1), [](const Arg& arg) { return is_literal(arg, -1); });
  }
  bool is_nothing(NodeId) const { return false; }

  // --- What is done with them ---

  Result<void> sizes_from_operand(NodeId id) {
    PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
    std::vector<Arg> made{copying_.argument(args(id)[0])};
    for (const Arg& arg : take_sizes(args(id).subspan(1), made[0], shape)) made.push_back(arg);
    remake(id, made);
    return {};
  }
  Result<void> sizes_in_tuple_from_operand(NodeId id) {
    PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
    const Arg operand = copying_.argument(args(id)[0]);
    const std::vector<Arg> sizes = take_sizes(graph().elements(args(id)[1]), operand, shape);
    remake(id, {operand, copying_.made().make_container(ArgKind::Tuple, sizes)});
    return {};
  }
  Result<void> batch_from_operand(NodeId id) {
    PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
    std::vector<Arg> made = copying_.arguments(id);
    if (!shape.empty() && is_literal(args(id)[1], shape[0])) made[1] = size_of(made[0], 0);
    remake(id, made);
    return {};
  }
  Result<void> sizes_at_their_place(NodeId id) {
    PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
    std::vector<Arg> made = copying_.arguments(id);
    for (size_t i = 0; i < shape.size() && i + 1 < made.size(); ++i) {
      const Arg& size = args(id)[i + 1];
      if (size.kind == ArgKind::Int && size.integer >= 1 && size.integer == shape[i] && (i == 0 || shape[i] > 1))
        made[i + 1] = size_of(made[0], i);
    }
    remake(id, made);
    return {};
  }
  Result<void> batch_first(NodeId id) {
    std::vector<Arg> made = copying_.arguments(id);
    made[1] = batch_size(id);
    remake(id, made);
    return {};
  }
  Result<void> batch_first_in_tuple(NodeId id) {
    const Arg operand = copying_.argument(args(id)[0]);
    std::vector<Arg> sizes{batch_size(id)};
    for (const Arg& size : graph().elements(args(id)[1]).subspan(1)) sizes.push_back(copying_.argument(size));
    remake(id, {operand, copying_.made().make_container(ArgKind::Tuple, sizes)});
    return {};
  }
  Result<void> batch_before(NodeId id) {
    std::vector<Arg> made = copying_.arguments(id);
    made.insert(made.begin() + 1, batch_size(id));
    remake(id, made);
    return {};
  }
  // Changes the call in its place, which keeps its name.
  Result<void> batch_of_new_tensor(NodeId id) {
    std::vector<Arg> made = copying_.arguments(id);
    std::vector<Arg> sizes;
    for (const Arg& size : graph().elements(args(id)[0])) sizes.push_back(copying_.argument(size));
    if (is_size(graph().elements(args(id)[0])[0])) sizes[0] = batch_size(id);
    made[0] = copying_.made().make_container(args(id)[0].kind, sizes);
    copying_.copy_with(id, names_.create(std::string(graph().node(id).name)), made);
    note(id, false);
    return {};
  }
  Result<void> sizes_from_latest(NodeId id) {
    if (!latest_) return copied(id);
    std::vector<Arg> made = copying_.arguments(id);
    for (size_t i = 0; i < made.size(); ++i) {
      if (is_size(args(id)[i])) made[i] = latest_size();
    }
    remake(id, made);
    return {};
  }
  Result<void> longer_size_from_latest(NodeId id) {
    if (!latest_) return copied(id);
    remake(id, {one_more(latest_size())});
    return {};
  }
  Result<void> sizes_in_tuple_from_latest(NodeId id) { return tuple_from_latest(id, 0); }
  Result<void> longer_sizes_in_tuple_from_latest(NodeId id) { return tuple_from_latest(id, 1); }
  Result<void> bounds_from_latest(NodeId id) {
    std::vector<Arg> items;
    for (const Arg& item : graph().elements(args(id)[1]))
      items.push_back(latest_ ? bound(item) : copying_.argument(item));
    remake(id, {copying_.argument(args(id)[0]), copying_.made().make_container(ArgKind::Tuple, items)});
    return {};
  }
  Result<void> all_sizes_from_operand(NodeId id);

 private:
  const ir::Graph& graph() const { return before_.sized.graph; }
  std::span<const Arg> args(NodeId id) const { return graph().args(id); }
  bool is_method(NodeId id, std::string_view target) const {
    const ir::Node& node = graph().node(id);
    return node.kind == NodeKind::CallMethod && node.target == target && args(id).size() >= 2;
  }
  bool is_function(NodeId id, std::string_view target) const {
    const ir::Node& node = graph().node(id);
    return node.kind == NodeKind::CallFunction && node.target == target;
  }
  static bool is_literal(const Arg& arg, int64_t value) { return arg.kind == ArgKind::Int && arg.integer == value; }
  bool has_literal(NodeId id, size_t i) const { return args(id)[i].kind == ArgKind::Int; }
  bool is_size(const Arg& arg, int64_t more = 0) const { return is_literal(arg, size_.captured + more); }
  bool holds_size(const Arg& container, int64_t more = 0) const {
    return std::ranges::any_of(graph().elements(container), [&](const Arg& arg) { return is_size(arg, more); });
  }
  bool is_made_of(NodeId id, int64_t more) const {
    if (args(id).empty()) return false;
    const Arg& sizes = args(id)[0];
    return (sizes.kind == ArgKind::Tuple || sizes.kind == ArgKind::List) && holds_size(sizes, more);
  }
  static bool is_first(const Arg& arg) { return arg.kind == ArgKind::None || is_literal(arg, 0); }
  static bool is_dense(const Arg& arg) { return arg.kind == ArgKind::None || is_literal(arg, 1); }
  // ":size" and "-size:".
  bool is_head(const Arg& item) const {
    if (item.kind != ArgKind::Slice) return false;
    const auto bounds = graph().elements(item);
    return is_size(bounds[1]) && is_first(bounds[0]) && is_dense(bounds[2]);
  }
  bool is_tail(const Arg& item) const {
    if (item.kind != ArgKind::Slice) return false;
    const auto bounds = graph().elements(item);
    return is_literal(bounds[0], -size_.captured) && bounds[1].kind == ArgKind::None && is_dense(bounds[2]);
  }
  Shape shape_of(const Arg& arg) const {
    if (arg.kind != ArgKind::Node || (deciding_ && before_.fresh[arg.node])) return {};
    return before_.shapes[arg.node];
  }
  Result<std::vector<int64_t>> needed_shape(NodeId id) const {
    const Shape shape = shape_of(args(id)[0]);
    if (shape) return *shape;
    return unsupported(fmt::format("the shape of what '{}' is called on is not known", graph().node(id).name));
  }

  // What is known of the node that was made last.
  void note(NodeId of, bool fresh) {
    after_.shapes.push_back(before_.shapes[of]);
    after_.fresh.push_back(fresh);
    after_.sized.is_size.push_back(before_.sized.is_size[of]);
  }
  void copy(NodeId id) {
    copying_.copy(id, names_.create(std::string(graph().node(id).name)));
    note(id, false);
    const Shape& shape = before_.shapes[id];
    for (size_t axis = 1; shape && axis < shape->size(); ++axis) {
      if ((*shape)[axis] != size_.captured) continue;
      latest_ = Latest{id, axis};
      break;
    }
  }
  Result<void> copied(NodeId id) {
    copy(id);
    return {};
  }
  void remake(NodeId id, const std::vector<Arg>& made) {
    copying_.copy_with(id, names_.create(fx::name_of_target(graph().node(id))), made);
    note(id, true);
  }
  Arg add(NodeKind kind, std::string_view target, std::string_view name, std::initializer_list<Arg> args) {
    after_.shapes.emplace_back();
    after_.fresh.push_back(true);
    after_.sized.is_size.push_back(true);
    return copying_.add(kind, target, names_.create(std::string(name)), args);
  }
  Arg size_of(const Arg& value, size_t axis) {
    return add(NodeKind::CallMethod, "size", "size", {value, Arg::of_int(static_cast<int64_t>(axis))});
  }
  Arg one_more(const Arg& size) { return add(NodeKind::Operator, "+", "add", {size, Arg::of_int(1)}); }
  Arg latest_size() { return size_of(copying_.here(latest_->node), latest_->axis); }
  Arg batch_size(NodeId id) {
    if (!batch_size_) batch_size_ = size_of(copying_.here(args(id)[0].node), 0);
    return *batch_size_;
  }

  // The first size for the first axis, others for the first other axis that has it, which is more than 1.
  std::vector<Arg> take_sizes(std::span<const Arg> sizes, const Arg& operand, const std::vector<int64_t>& shape) {
    std::vector<Arg> made;
    for (size_t i = 0; i < sizes.size(); ++i) {
      size_t axis = i == 0 ? 0 : 1;
      if (sizes[i].kind == ArgKind::Int && sizes[i].integer >= 1) {
        while (i > 0 && axis < shape.size() && (shape[axis] != sizes[i].integer || shape[axis] <= 1)) ++axis;
        if (axis < shape.size() && shape[axis] == sizes[i].integer) {
          made.push_back(size_of(operand, axis));
          continue;
        }
      }
      made.push_back(copying_.argument(sizes[i]));
    }
    return made;
  }

  Result<void> tuple_from_latest(NodeId id, int64_t more) {
    if (!latest_) return copied(id);
    std::vector<Arg> sizes;
    for (const Arg& size : graph().elements(args(id)[0])) {
      if (!is_size(size, more))
        sizes.push_back(copying_.argument(size));
      else
        sizes.push_back(more == 0 ? latest_size() : one_more(latest_size()));
    }
    remake(id, {copying_.made().make_container(ArgKind::Tuple, sizes)});
    return {};
  }

  Arg bound(const Arg& item) {
    if (!is_head(item) && !is_tail(item)) return copying_.argument(item);
    const auto bounds = graph().elements(item);
    std::vector<Arg> made{bounds[0], bounds[1], bounds[2]};
    if (is_head(item))
      made[1] = latest_size();
    else
      made[0] = add(NodeKind::Operator, "neg", "neg", {latest_size()});
    return copying_.made().make_container(ArgKind::Slice, made);
  }

  struct Latest {
    NodeId node;  // of the graph before
    size_t axis;
  };
  const State& before_;
  const ChangingSize& size_;
  GraphCopy copying_;
  fx::Namespace names_{fx::Numbering::FromOne};
  State after_;
  std::optional<Latest> latest_;   // the value that had the size on another axis than the first most recently
  std::optional<Arg> batch_size_;  // in the graph that is made
  bool deciding_ = false;
};

// Equal sizes are taken from the operand in order; what is left on one side is the product or a square root of what is
// left on the other.
Result<void> SizePass::all_sizes_from_operand(NodeId id) {
  PASSNET_TRY(const std::vector<int64_t> shape, needed_shape(id));
  std::vector<Arg> made = copying_.arguments(id);
  const Arg operand = made[0];
  std::map<int64_t, std::deque<size_t>> axes_of;
  for (size_t axis = 0; axis < shape.size(); ++axis) axes_of[shape[axis]].push_back(axis);
  std::vector<size_t> rest;  // arguments that no axis has
  std::vector<bool> taken(shape.size());
  std::vector<std::pair<size_t, size_t>> common;  // argument and axis
  for (size_t i = 1; i < made.size(); ++i) {
    const Arg& size = args(id)[i];
    const auto found = size.kind == ArgKind::Int ? axes_of.find(size.integer) : axes_of.end();
    if (found == axes_of.end() || found->second.empty()) {
      rest.push_back(i);
      continue;
    }
    common.emplace_back(i, found->second.front());
    taken[found->second.front()] = true;
    found->second.pop_front();
  }
  for (const auto& [i, axis] : common) {
    if (i > 1) made[i] = size_of(operand, axis);
  }
  std::vector<Arg> left;  // sizes of the operand
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!taken[axis]) left.push_back(size_of(operand, axis));
  }
  if (rest.size() == 1 && left.size() > 1) {
    Arg product = left[0];
    for (size_t i = 1; i < left.size(); ++i) product = add(NodeKind::Operator, "*", "mul", {product, left[i]});
    made[rest[0]] = product;
  } else if (rest.size() == 2 && left.size() == 1 &&
             equal_args(graph(), args(id)[rest[0]], graph(), args(id)[rest[1]])) {
    const Arg power = add(NodeKind::Operator, "**", "pow", {left[0], Arg::of_float(0.5)});
    const Arg root = add(NodeKind::CallFunction, "torch.sym_int", "int", {power});
    made[rest[0]] = made[rest[1]] = root;
  }
  remake(id, made);
  return {};
}

using P = SizePass;
// clang-format off
const P::Rule kSizePasses[] = {
    {"naive_call_method_view_pass", true, &P::is_view, &P::sizes_from_operand, &P::is_view},
    {"naive_call_method_reshape_pass", true, &P::is_reshape, &P::sizes_from_operand, &P::is_reshape},
    {"naive_call_method_expand_pass", true, &P::is_expand, &P::sizes_at_their_place, &P::is_expand},
    {"batch_call_method_view_pass", true, &P::is_view_of_batch, &P::batch_from_operand, &P::is_view_of_batch},
    {"batch_call_method_expand_pass", true, &P::is_expand_of_one, &P::batch_first, &P::is_expand_of_one, true},
    {"batch_call_method_reshape_pass", true, &P::is_reshape_to_one, &P::batch_first_in_tuple, &P::is_reshape_to_one, true},
    {"batch_call_method_zeros_pass", true, &P::is_new_tensor, &P::batch_of_new_tensor, &P::is_new_tensor_of_size, true},
    {"batch_dim_restore_view_pass", true, &P::is_view_without_batch, &P::batch_before, &P::is_view_without_batch, true},
    {"tuple_arg_call_method_view_pass", true, &P::is_view_to_tuple, &P::sizes_in_tuple_from_operand, &P::is_view_to_tuple},
    {"non_batch_call_method_expand_pass", false, &P::is_expand_to_size, &P::sizes_from_latest, &P::is_expand_to_size},
    {"non_batch_call_method_view_pass", false, &P::is_view_to_numbers, &P::all_sizes_from_operand, &P::is_view_to_numbers},
    {"non_batch_call_function_arange_pass", false, &P::is_range, &P::sizes_from_latest, &P::is_range},
    {"non_batch_call_function_arange_plus_one_pass", false, &P::is_longer_range_beside_triangle, &P::longer_size_from_latest, &P::is_longer_range},
    {"non_batch_call_function_full_pass", false, &P::is_full, &P::sizes_in_tuple_from_latest, &P::is_full},
    {"non_batch_call_function_full_plus_one_pass", false, &P::is_full_for_triangle, &P::longer_sizes_in_tuple_from_latest, &P::is_full_for_triangle},
    {"non_batch_call_function_zeros_pass", false, &P::is_zeros, &P::sizes_in_tuple_from_latest, &P::is_zeros},
    {"non_batch_call_function_getitem_slice_pass", false, &P::is_slice_of_size, &P::bounds_from_latest, &P::is_slice_of_size},
};
// clang-format on

Result<const P::Rule*> find_size_pass(const std::string& name) {
  const auto* found = std::ranges::find(kSizePasses, name, &P::Rule::name);
  if (found != std::end(kSizePasses)) return found;
  std::vector<std::string_view> known;
  for (const P::Rule& rule : kSizePasses) known.push_back(rule.name);
  const std::string_view nearest = nearest_name(name, known);
  return unsupported(fmt::format("graph_net.json names the unknown pass {}", quoted(name)))
      .with_hint(nearest.empty() ? "" : fmt::format("did you mean {}?", quoted(nearest)));
}

}  // namespace

std::vector<ChangingSize> changing_sizes(const graphdir::Constraints& constraints) {
  std::vector<ChangingSize> sizes;
  for (size_t k = 0; k < constraints.symbols.size(); ++k) {
    ChangingSize& size = sizes.emplace_back(ChangingSize{constraints.examples[k], {}});
    for (const graphdir::Constraints::Input& input : constraints.inputs) {
      for (size_t axis = 0; axis < input.shape.size(); ++axis) {
        const graphdir::ShapeExpression& one = input.shape[axis];
        if (one.kind == graphdir::ShapeExpression::Kind::Symbol && one.value == static_cast<int64_t>(k))
          size.axes.push_back(axis);
      }
    }
  }
  return sizes;
}

Result<SizedGraph> apply_size_passes(const ir::Graph& graph, const ir::Values& types,
                                     std::span<const std::string> passes, std::span<const ChangingSize> sizes) {
  State state{{graph, std::vector<bool>(graph.size()), false}, {}, std::vector<bool>(graph.size())};
  for (NodeId id = 0; id < graph.size(); ++id) {
    const ir::TensorType* type = ir::tensor_type(types, id);
    state.shapes.push_back(type == nullptr ? Shape() : Shape(type->shape));
  }
  for (const std::string& name : passes) {
    PASSNET_TRY(const P::Rule* const rule, find_size_pass(name));
    for (const ChangingSize& size : sizes) {
      if (!SizePass(state, size).is_needed(*rule)) continue;
      state.fresh.assign(state.fresh.size(), false);
      Result<State> next = SizePass(state, size).run(*rule);
      if (!next) return std::move(next).error().with_note(fmt::format("in {} for the size {}", name, size.captured));
      state = std::move(*next);
    }
  }
  return std::move(state.sized);
}

NumberedGraph with_numbers(const SizedGraph& sized, const ir::Values& values) {
  NumberedGraph numbered;
  GraphCopy copying(sized.graph);
  std::vector<std::string> why(sized.graph.size());  // by size: it has no number
  for (NodeId id = 0; id < sized.graph.size(); ++id) {
    if (!sized.is_size[id]) {
      copying.copy(id);
      std::string& unknown = numbered.unknown.emplace_back();
      for_each_input(sized.graph, sized.graph.node(id), [&](NodeId input) {
        if (unknown.empty()) unknown = why[input];
      });
    } else if (const int64_t* number = std::get_if<int64_t>(&values[id].is)) {
      copying.stand_for(id, Arg::of_int(*number));
    } else if (const double* real = std::get_if<double>(&values[id].is)) {
      copying.stand_for(id, Arg::of_float(*real));
    } else {
      const ir::Value::Unknown* unknown = values[id].unknown();
      why[id] = unknown != nullptr ? first_line(unknown->why) : "a size is no number";
    }
  }
  numbered.graph = std::move(copying.made());
  return numbered;
}

}  // namespace passnet::dataset::official
