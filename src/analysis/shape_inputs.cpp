#include "analysis/shape_inputs.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "analysis/op_name.h"
#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

namespace {

using graphdir::Redraw;
using ir::Arg;
using ir::ArgKind;
using ir::Node;
using ir::NodeId;
using ir::NodeKind;

template <size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Results whose sizes are those of their inputs, not what these hold.
constexpr std::array<std::string_view, 14> kSizes = {"size",       "shape",     "numel",      "dim",      "ndim",
                                                     "len",        "device",    "dtype",      "is_cuda",  "stride",
                                                     "zeros_like", "ones_like", "empty_like", "new_empty"};
/// Operators whose result has a size that the contents of their tensors decide.
constexpr std::array<std::string_view, 10> kCounting = {"nonzero",  "argwhere",           "masked_select", "unique",
                                                        "bincount", "unique_consecutive", "unique_dim",    "one_hot",
                                                        "_unique2", "repeat_interleave"};
/// Operators of kCounting whose count does not depend on the order of the elements.
constexpr std::array<std::string_view, 6> kCountingInAnyOrder = {"nonzero",  "argwhere", "masked_select",
                                                                 "bincount", "one_hot",  "repeat_interleave"};
/// Operators that make tensors, or views, of sizes that may be given as numbers.
constexpr std::array<std::string_view, 27> kSized = {
    "arange",           "range",    "linspace", "zeros",        "ones",      "full",         "empty",
    "new_zeros",        "new_ones", "new_full", "narrow",       "view",      "reshape",      "expand",
    "repeat",           "tile",     "pad",      "interpolate",  "split",     "tensor_split", "chunk",
    "split_with_sizes", "topk",     "unfold",   "broadcast_to", "unflatten", "resize_"};
/// Operators of kSized that have no tensor as first argument.
constexpr std::array<std::string_view, 7> kMaking = {"arange", "range", "linspace", "zeros", "ones", "full", "empty"};
/// Keywords of these that are no sizes.
constexpr std::array<std::string_view, 5> kNoSizes = {"value", "fill_value", "mode", "dtype", "device"};
constexpr std::array<std::string_view, 3> kPythonNumbers = {"int", "float", "bool"};
constexpr std::array<std::string_view, 8> kReductions = {"sum",  "max", "min", "amax",
                                                         "amin", "any", "all", "count_nonzero"};
constexpr std::array<std::string_view, 20> kTruths = {
    "eq",  "ne",  "lt",          "le",          "gt",         "ge",          "isnan", "isinf", "isfinite", "bool",
    "any", "all", "logical_not", "logical_and", "logical_or", "logical_xor", "isin",  "less",  "greater",  "not_equal"};
/// Operators that give each element what its own element alone decides, or that give other shapes to the same elements.
constexpr std::array<std::string_view, 34> kByElement = {
    "eq",       "ne",          "lt",      "le",          "gt",        "ge",     "isnan", "isinf", "isfinite",
    "bool",     "logical_not", "invert",  "bitwise_not", "neg",       "add",    "sub",   "mul",   "truediv",
    "floordiv", "mod",         "abs",     "to",          "float",     "int",    "long",  "clone", "contiguous",
    "view",     "reshape",     "flatten", "squeeze",     "unsqueeze", "detach", "clamp"};
constexpr std::array<std::string_view, 22> kMoving = {
    "view",    "reshape", "flatten",    "squeeze", "unsqueeze", "expand",  "expand_as", "transpose",
    "permute", "t",       "contiguous", "clone",   "detach",    "getitem", "chunk",     "split",
    "cat",     "stack",   "and",        "or",      "xor",       "invert"};
constexpr std::array<std::string_view, 9> kToIntegers = {"long", "int",         "short",     "char", "byte",
                                                         "to",   "grid_sample", "bucketize", "type"};

/// "view", whatever its spelling.
std::string plain_name(const Node& node) {
  std::string name = op_name(node);
  if (node.kind == NodeKind::Attribute) return std::string(node.target);
  if (node.kind == NodeKind::CallMethod) name = name.substr(name.find('.') + 1);
  if (node.kind == NodeKind::Operator && name.ends_with("_")) name.pop_back();
  return name.substr(0, name.find('.'));
}

/// Tells whether a node reads a number out of a tensor.
bool reads_number(const Node& node, std::string_view name) {
  if (node.kind == NodeKind::CallMethod) return name == "item" || name == "tolist";
  return node.kind == NodeKind::CallFunction && node.target == name && contains(kPythonNumbers, name);
}

std::vector<const graphdir::TensorMeta*> records_of(const graphdir::GraphDir& graph) {
  std::vector<const graphdir::TensorMeta*> records(graph.graph.placeholder_count());
  for (NodeId id = 0; id < records.size(); ++id) records[id] = graph.find_record(graph.graph.node(id).target);
  return records;
}

/// Facts about a value.
struct Known {
  std::vector<bool> from;      // by placeholder: its contents are in this value
  NodeId lane = ir::kNoNode;   // the placeholder whose elements, one by one, make its elements
  NodeId total = ir::kNoNode;  // the placeholder that it is a property of, in any order of the elements
  bool is_truth = false;       // it may hold truth values
  bool is_number = false;      // a number that was read out of a tensor
};

void add(const std::vector<bool>& from, std::vector<bool>& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = to[i] || from[i];
}

class Flow {
 public:
  explicit Flow(const graphdir::GraphDir& dir)
      : graph_(dir.graph),
        redraw_(dir.graph.placeholder_count(), Redraw::Any),
        known_(dir.graph.size()),
        memory_(ir::memory_of_values(dir.graph)) {
    const auto records = records_of(dir);
    for (NodeId id = 0; id < redraw_.size(); ++id) {
      known_[id].from.resize(redraw_.size());
      known_[id].from[id] = true;
      known_[id].lane = id;
      const auto dtype = records[id] != nullptr ? records[id]->dtype : ir::DType::Float32;
      known_[id].is_truth = dtype == ir::DType::Bool || dtype == ir::DType::UInt8;
    }
  }

  std::vector<Redraw> run() {
    for (NodeId id = graph_.placeholder_count(); id < graph_.size(); ++id) follow(id);
    return std::move(redraw_);
  }

 private:
  void follow(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.kind == NodeKind::Output) return;
    const std::string name = plain_name(node);
    Known& made = known_[id];
    made.from.resize(redraw_.size());
    if (contains(kSizes, name)) return;
    decide(node, name);
    size_t inputs = 0;
    NodeId only = ir::kNoNode;
    bool numbers_alone = true;
    ir::for_each_input(graph_, node, [&](NodeId input) {
      const Known& known = known_[input];
      add(known.from, made.from);
      made.is_truth |= known.is_truth && contains(kMoving, name);
      numbers_alone &= known.is_number;
      ++inputs;
      only = input;
    });
    made.is_truth |= contains(kTruths, name);
    made.is_number = reads_number(node, name) || (inputs > 0 && numbers_alone && node.kind == NodeKind::Operator);
    if (inputs == 1) follow_elements(node, name, known_[only], made);
    // Later readers of the same memory find what the node writes.
    const NodeId target = ir::overwritten_input(graph_, id);
    for (NodeId other = 0; other < id && target != ir::kNoNode; ++other) {
      if (memory_[other] != memory_[target]) continue;
      add(made.from, known_[other].from);
      known_[other].lane = known_[other].total = ir::kNoNode;
    }
  }

  static void follow_elements(const Node& node, std::string_view name, const Known& input, Known& made) {
    if (contains(kByElement, name)) made.lane = input.lane;
    if (contains(kReductions, name) && node.arg_count == 1 && node.keyword_count == 0) made.total = input.lane;
    if (reads_number(node, name) || input.is_number || contains(kByElement, name))
      made.total = made.total != ir::kNoNode ? made.total : input.total;
  }

  /// Notes the placeholders that decide the shape of this node's value.
  void decide(const Node& node, std::string_view name) {
    const std::span<const Arg> args = graph_.args(node);
    if (name == "getitem" || name == "setitem") {
      if (args.size() > 1) decide_index(args[1], name == "getitem");
    } else if (name == "where" && args.size() + node.keyword_count == 1) {
      decide_by(args[0], true);
    } else if (name == "repeat_interleave" || name == "masked_select") {
      if (args.size() > 1) decide_by(args[1], true);
      for (const ir::Keyword& keyword : graph_.keywords(node)) decide_by(keyword.value, true);
    } else if (contains(kCounting, name)) {
      if (!args.empty()) decide_by(args[0], contains(kCountingInAnyOrder, name));
    } else if (contains(kSized, name)) {
      const bool fills = name == "full" || name == "new_full" || name == "pad";
      const size_t first = contains(kMaking, name) ? 0 : 1;
      for (size_t i = first; i < (fills ? std::min(first + 1, args.size()) : args.size()); ++i)
        decide_by(args[i], false);
      for (const ir::Keyword& keyword : graph_.keywords(node)) {
        if (!contains(kNoSizes, keyword.name)) decide_by(keyword.value, false);
      }
    }
  }

  /// Slices have numbers as bounds, and truth values take as many elements as are true.
  void decide_index(const Arg& index, bool reads) {
    if (index.kind == ArgKind::Slice) {
      for (const Arg& bound : graph_.elements(index)) decide_by(bound, false);
    } else if (index.kind == ArgKind::Tuple || index.kind == ArgKind::List) {
      for (const Arg& element : graph_.elements(index)) decide_index(element, reads);
    } else if (index.kind == ArgKind::Node && reads && known_[index.node].is_truth) {
      decide_by(index, true);
    }
  }

  void decide_by(const Arg& arg, bool in_any_order) {
    ir::for_each_node(graph_, arg, [&](NodeId id) {
      const Known& known = known_[id];
      const NodeId one = known.total != ir::kNoNode ? known.total : in_any_order ? known.lane : ir::kNoNode;
      if (one != ir::kNoNode) {
        redraw_[one] = std::max(redraw_[one], Redraw::Order);
        return;
      }
      for (size_t i = 0; i < known.from.size(); ++i) {
        if (known.from[i]) redraw_[i] = Redraw::None;
      }
    });
  }

  const ir::Graph& graph_;
  std::vector<Redraw> redraw_;  // by placeholder
  std::vector<Known> known_;    // by node
  std::vector<NodeId> memory_;  // by node
};

/// Tells whether a node may decide a shape by contents; without such a node no data flow is followed.
bool may_decide(const ir::Graph& graph, const Node& node) {
  const std::string name = plain_name(node);
  if (contains(kCounting, name) || reads_number(node, name)) return true;
  if (name == "where") return node.arg_count + node.keyword_count == 1;
  bool takes_values = false;
  if (name == "getitem" && node.arg_count > 1)
    ir::for_each_node(graph, graph.args(node)[1], [&](NodeId) { takes_values = true; });
  if (name == "arange" || name == "range" || name == "linspace" || name == "full")
    ir::for_each_input(graph, node, [&](NodeId) { takes_values = true; });
  return takes_values;
}

}  // namespace

std::vector<Redraw> shape_inputs(const graphdir::GraphDir& graph) {
  const bool may = std::ranges::any_of(graph.graph.nodes(), [&](const Node& node) {
    return node.kind != NodeKind::Placeholder && node.kind != NodeKind::Output && may_decide(graph.graph, node);
  });
  return may ? Flow(graph).run() : std::vector<Redraw>(graph.graph.placeholder_count(), Redraw::Any);
}

bool converts_to_integers(const graphdir::GraphDir& graph) {
  const auto records = records_of(graph);
  // Conversions of truth values and of integers are harmless.
  const auto may_be_floating = [&](const Arg& arg) {
    if (arg.kind != ArgKind::Node) return true;
    if (arg.node >= records.size()) return !contains(kTruths, plain_name(graph.graph.node(arg.node)));
    return records[arg.node] == nullptr || ir::is_floating(records[arg.node]->dtype);
  };
  return std::ranges::any_of(graph.graph.nodes(), [&](const Node& node) {
    if (node.kind != NodeKind::CallMethod && node.kind != NodeKind::CallFunction) return false;
    const std::string name = plain_name(node);
    if (!contains(kToIntegers, name) || node.arg_count == 0 || !may_be_floating(graph.graph.args(node)[0]))
      return false;
    if (name != "to" && name != "type") return true;
    const auto is_integral = [](const Arg& arg) {
      return arg.kind == ArgKind::DType && ir::is_integral(arg.dtype) && arg.dtype != ir::DType::Bool;
    };
    return std::ranges::any_of(graph.graph.args(node), is_integral) ||
           std::ranges::any_of(graph.graph.keywords(node), is_integral, &ir::Keyword::value);
  });
}

}  // namespace passnet::analysis
