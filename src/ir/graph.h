// The graph: what torch.fx calls a Graph, as flat arrays. Nodes are in program order: placeholders, body, output.
// Nodes and arguments are small values; names are views into an arena that copies of the graph share, so copying a
// graph is a handful of vector copies. Nothing here knows Python text; fx/ reads and prints it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/dtype.h"

namespace passnet::ir {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

/// A literal or a reference, as it stands in an argument list.
enum class ArgKind : uint8_t {
  None,
  Node,      // node
  Bool,      // boolean
  Int,       // integer
  Float,     // real (inf, -inf and nan included)
  String,    // text
  DType,     // dtype: torch.float16
  Device,    // text: "cuda:0", "cpu" (device(type='cuda', index=0))
  Constant,  // text: another torch constant by its dotted name: "torch.channels_last"
  Ellipsis,
  Slice,  // elements: start, stop, step
  Tuple,  // elements
  List,   // elements
};

struct Arg {
  ArgKind kind = ArgKind::None;
  DType dtype = DType::Float32;  // DType
  uint32_t count = 0;            // Slice, Tuple, List: elements; String, Device, Constant: bytes
  union {
    NodeId node;
    bool boolean;
    int64_t integer;
    double real;
    uint32_t first;    // Slice, Tuple, List: index of the first element in the graph's pool
    const char* text;  // String, Device, Constant: `count` bytes in the graph's arena
  };
  Arg() : integer(0) {}
  std::string_view string() const { return {text, count}; }

  static Arg none() { return {}; }
  static Arg of_node(NodeId id);
  static Arg of_bool(bool value);
  static Arg of_int(int64_t value);
  static Arg of_float(double value);
  static Arg of_dtype(DType value);
  static Arg ellipsis();
  /// kind String, Device or Constant; `text` must live in the graph's arena (Graph::intern).
  static Arg of_text(ArgKind kind, std::string_view text);
  /// kind Slice, Tuple or List; elements come from Graph::add_elements.
  static Arg of_elements(ArgKind kind, uint32_t first, uint32_t count);
};

struct Keyword {
  std::string_view name;
  Arg value;
};

/// torch.fx's opcodes, with Python's operators told apart from functions.
enum class NodeKind : uint8_t {
  Placeholder,   // target: the name in the signature of forward; name: the alias the body uses; optional
                 // args[0]: String, the annotation ("torch.Tensor")
  CallFunction,  // target: dotted name, "torch.nn.functional.relu"
  CallMethod,    // target: "view"; args[0] is the tensor
  Operator,      // target: "+", "@", "==", "getitem", "setitem", "neg", "invert", in place: "+=", "*=", …
  Attribute,     // target: "T"; args[0] is the object
  Output,        // args[0]: what forward returns, usually a Tuple of nodes
};

struct Node {
  NodeKind kind = NodeKind::CallFunction;
  uint32_t first_arg = 0, arg_count = 0;          // in the graph's argument pool
  uint32_t first_keyword = 0, keyword_count = 0;  // in the graph's keyword pool
  uint32_t offset = 0;                            // byte position in the source text
  std::string_view target;
  std::string_view name;  // unique in the graph
};

class Graph {
 public:
  Graph();

  std::string file;                           // where it was read from, for messages; may be empty
  std::shared_ptr<const std::string> source;  // the text positions refer to; may be null

  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  std::span<const Arg> args(const Node& node) const { return {pool_.data() + node.first_arg, node.arg_count}; }
  std::span<const Arg> args(NodeId id) const { return args(nodes_[id]); }
  std::span<const Keyword> keywords(const Node& node) const {
    return {keywords_.data() + node.first_keyword, node.keyword_count};
  }
  std::span<const Keyword> keywords(NodeId id) const { return keywords(nodes_[id]); }
  /// Elements of a Tuple, List or Slice.
  std::span<const Arg> elements(const Arg& arg) const { return {pool_.data() + arg.first, arg.count}; }

  NodeId placeholder_count() const { return placeholder_count_; }
  /// The last node when it is the output, else kNoNode (a graph under construction).
  NodeId output() const;

  /// Copies `text` into the arena and returns a view that lives as long as any copy of this graph.
  std::string_view intern(std::string_view text);
  /// Appends elements of a container; returns the index of the first. Pass finished element Args.
  uint32_t add_elements(std::span<const Arg> elements);
  Arg make_container(ArgKind kind, std::span<const Arg> elements);

  /// Appends a node. target and name must be interned or literals of static lifetime.
  NodeId add_placeholder(std::string_view target, std::string_view name, std::string_view annotation = {},
                         uint32_t offset = 0);
  NodeId add_node(NodeKind kind, std::string_view target, std::string_view name, std::span<const Arg> args,
                  std::span<const Keyword> keywords = {}, uint32_t offset = 0);
  NodeId add_output(const Arg& value, uint32_t offset = 0);
  void rename(NodeId id, std::string_view name) { nodes_[id].name = name; }

  /// Copies a placeholder of another graph with its name and its annotation.
  NodeId import_placeholder(const Graph& from, const Node& placeholder, uint32_t offset = 0);
  /// Copies an argument of `from` into this graph, mapping node references through `node_map`
  /// (indexed by `from`'s ids, giving the Arg to use here).
  Arg import_arg(const Graph& from, const Arg& arg, std::span<const Arg> node_map);

  /// Keeps `owner` alive as long as the arena (names may view into it).
  void keep_alive(std::shared_ptr<const void> owner);
  void reserve(size_t nodes, size_t args);

  /// file:line:col of a node in `source`, or of a byte offset.
  SourceLoc locate(const Node& node) const;
  SourceLoc locate_offset(uint32_t offset) const;

 private:
  struct Arena;
  std::vector<Node> nodes_;
  std::vector<Arg> pool_;
  std::vector<Keyword> keywords_;
  std::shared_ptr<Arena> arena_;
  NodeId placeholder_count_ = 0;
};

/// Calls `visit(NodeId)` for each node reference in `arg`, containers included, in order.
template <class Visit>
void for_each_node(const Graph& graph, const Arg& arg, Visit&& visit) {
  if (arg.kind == ArgKind::Node) {
    visit(arg.node);
  } else if (arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List || arg.kind == ArgKind::Slice) {
    for (const Arg& element : graph.elements(arg)) for_each_node(graph, element, visit);
  }
}
/// The same over all positional and keyword arguments of a node.
template <class Visit>
void for_each_input(const Graph& graph, const Node& node, Visit&& visit) {
  for (const Arg& arg : graph.args(node)) for_each_node(graph, arg, visit);
  for (const Keyword& keyword : graph.keywords(node)) for_each_node(graph, keyword.value, visit);
}

/// users[id] = nodes that take id as an input, in order, each once.
std::vector<std::vector<NodeId>> users(const Graph& graph);
/// For each node, the id of the last node that uses it (kNoNode when unused).
std::vector<NodeId> last_uses(const Graph& graph);

/// Same nodes in the same order: kinds, targets, names, arguments. Files and positions are not compared.
bool equal(const Graph& a, const Graph& b);
bool equal_args(const Graph& a, const Arg& x, const Graph& b, const Arg& y);
/// "" when equal, else one line saying the first difference.
std::string first_difference(const Graph& a, const Graph& b);

}  // namespace passnet::ir
