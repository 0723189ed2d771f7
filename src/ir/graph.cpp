#include "ir/graph.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <mutex>

#include "base/check.h"
#include "base/text/strings.h"

namespace passnet::ir {

namespace {
Arg make(ArgKind kind) {
  Arg arg;
  arg.kind = kind;
  return arg;
}
}  // namespace

Arg Arg::of_node(NodeId id) {
  Arg arg = make(ArgKind::Node);
  arg.node = id;
  return arg;
}
Arg Arg::of_bool(bool value) {
  Arg arg = make(ArgKind::Bool);
  arg.boolean = value;
  return arg;
}
Arg Arg::of_int(int64_t value) {
  Arg arg = make(ArgKind::Int);
  arg.integer = value;
  return arg;
}
Arg Arg::of_float(double value) {
  Arg arg = make(ArgKind::Float);
  arg.real = value;
  return arg;
}
Arg Arg::of_dtype(DType value) {
  Arg arg = make(ArgKind::DType);
  arg.dtype = value;
  return arg;
}
Arg Arg::ellipsis() { return make(ArgKind::Ellipsis); }
Arg Arg::of_text(ArgKind kind, std::string_view text) {
  Arg arg = make(kind);
  arg.text = text.data();
  arg.count = static_cast<uint32_t>(text.size());
  return arg;
}
Arg Arg::of_elements(ArgKind kind, uint32_t first, uint32_t count) {
  Arg arg = make(kind);
  arg.first = first;
  arg.count = count;
  return arg;
}

// Append-only blocks of text, so views stay valid; shared by copies of a graph that may live in several threads.
struct Graph::Arena {
  static constexpr size_t kBlock = 4096;
  std::mutex mutex;
  std::deque<std::unique_ptr<char[]>> blocks;
  size_t left = 0;
  char* next = nullptr;
  std::vector<std::shared_ptr<const void>> owners;

  std::string_view copy(std::string_view text) {
    const std::lock_guard lock(mutex);
    if (text.size() > left) {
      left = std::max(kBlock, text.size());
      blocks.push_back(std::make_unique<char[]>(left));
      next = blocks.back().get();
    }
    std::memcpy(next, text.data(), text.size());
    const std::string_view view{next, text.size()};
    next += text.size();
    left -= text.size();
    return view;
  }
};

Graph::Graph() : arena_(std::make_shared<Arena>()) {}

NodeId Graph::output() const {
  return !nodes_.empty() && nodes_.back().kind == NodeKind::Output ? size() - 1 : kNoNode;
}

std::string_view Graph::intern(std::string_view text) { return text.empty() ? std::string_view{} : arena_->copy(text); }

uint32_t Graph::add_elements(std::span<const Arg> elements) {
  const auto first = static_cast<uint32_t>(pool_.size());
  pool_.insert(pool_.end(), elements.begin(), elements.end());
  return first;
}

Arg Graph::make_container(ArgKind kind, std::span<const Arg> elements) {
  const uint32_t first = add_elements(elements);
  return Arg::of_elements(kind, first, static_cast<uint32_t>(elements.size()));
}

NodeId Graph::import_placeholder(const Graph& from, const Node& placeholder, uint32_t offset) {
  const std::span<const Arg> annotation = from.args(placeholder);
  return add_placeholder(intern(placeholder.target), intern(placeholder.name),
                         annotation.empty() ? std::string_view() : intern(annotation[0].string()), offset);
}

NodeId Graph::add_placeholder(std::string_view target, std::string_view name, std::string_view annotation,
                              uint32_t offset) {
  PASSNET_CHECK(placeholder_count_ == size(), "placeholders come before all other nodes");
  ++placeholder_count_;
  const Arg note = Arg::of_text(ArgKind::String, annotation);
  return add_node(NodeKind::Placeholder, target, name,
                  annotation.empty() ? std::span<const Arg>{} : std::span{&note, 1}, {}, offset);
}

NodeId Graph::add_node(NodeKind kind, std::string_view target, std::string_view name, std::span<const Arg> args,
                       std::span<const Keyword> keywords, uint32_t offset) {
  Node node;
  node.kind = kind;
  node.target = target;
  node.name = name;
  node.offset = offset;
  node.arg_count = static_cast<uint32_t>(args.size());
  node.first_arg = add_elements(args);
  node.keyword_count = static_cast<uint32_t>(keywords.size());
  node.first_keyword = static_cast<uint32_t>(keywords_.size());
  keywords_.insert(keywords_.end(), keywords.begin(), keywords.end());
  nodes_.push_back(node);
  return size() - 1;
}

NodeId Graph::add_output(const Arg& value, uint32_t offset) {
  return add_node(NodeKind::Output, "output", "output", std::span{&value, 1}, {}, offset);
}

Arg Graph::import_arg(const Graph& from, const Arg& arg, std::span<const Arg> node_map) {
  switch (arg.kind) {
    case ArgKind::Node: return node_map[arg.node];
    case ArgKind::String:
    case ArgKind::Device:
    case ArgKind::Constant: return Arg::of_text(arg.kind, intern(arg.string()));
    case ArgKind::Slice:
    case ArgKind::Tuple:
    case ArgKind::List: {
      std::vector<Arg> elements;
      elements.reserve(arg.count);
      for (const Arg& element : from.elements(arg)) elements.push_back(import_arg(from, element, node_map));
      return make_container(arg.kind, elements);
    }
    default: return arg;
  }
}

void Graph::keep_alive(std::shared_ptr<const void> owner) {
  const std::lock_guard lock(arena_->mutex);
  arena_->owners.push_back(std::move(owner));
}

void Graph::reserve(size_t nodes, size_t args) {
  nodes_.reserve(nodes);
  pool_.reserve(args);
}

SourceLoc Graph::locate(const Node& node) const { return locate_offset(node.offset); }

SourceLoc Graph::locate_offset(uint32_t offset) const {
  return source ? passnet::locate(file, *source, offset) : SourceLoc{file, 0, 0};
}

std::vector<std::vector<NodeId>> users(const Graph& graph) {
  std::vector<std::vector<NodeId>> result(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (result[input].empty() || result[input].back() != id) result[input].push_back(id);
    });
  }
  return result;
}

std::vector<NodeId> last_uses(const Graph& graph) {
  std::vector<NodeId> result(graph.size(), kNoNode);
  for (NodeId id = 0; id < graph.size(); ++id) {
    for_each_input(graph, graph.node(id), [&](NodeId input) { result[input] = id; });
  }
  return result;
}

bool equal_args(const Graph& a, const Arg& x, const Graph& b, const Arg& y) {
  if (x.kind != y.kind) return false;
  switch (x.kind) {
    case ArgKind::None:
    case ArgKind::Ellipsis: return true;
    case ArgKind::Node: return x.node == y.node;
    case ArgKind::Bool: return x.boolean == y.boolean;
    case ArgKind::Int: return x.integer == y.integer;
    // Bit equality, so that nan equals nan and 0.0 differs from -0.0.
    case ArgKind::Float: return std::memcmp(&x.real, &y.real, sizeof x.real) == 0;
    case ArgKind::DType: return x.dtype == y.dtype;
    case ArgKind::String:
    case ArgKind::Device:
    case ArgKind::Constant: return x.string() == y.string();
    case ArgKind::Slice:
    case ArgKind::Tuple:
    case ArgKind::List: {
      if (x.count != y.count) return false;
      for (uint32_t i = 0; i < x.count; ++i) {
        if (!equal_args(a, a.elements(x)[i], b, b.elements(y)[i])) return false;
      }
      return true;
    }
  }
  return false;
}

std::string first_difference(const Graph& a, const Graph& b) {
  for (NodeId id = 0; id < std::min(a.size(), b.size()); ++id) {
    const Node& x = a.node(id);
    const Node& y = b.node(id);
    if (x.kind != y.kind || x.target != y.target)
      return fmt::format("node {}: target {} against {}", id, quoted(x.target), quoted(y.target));
    if (x.name != y.name) return fmt::format("node {}: name {} against {}", id, quoted(x.name), quoted(y.name));
    if (x.arg_count != y.arg_count || x.keyword_count != y.keyword_count)
      return fmt::format("node {} '{}': {}+{} arguments against {}+{}", id, x.name, x.arg_count, x.keyword_count,
                         y.arg_count, y.keyword_count);
    for (uint32_t i = 0; i < x.arg_count; ++i) {
      if (!equal_args(a, a.args(x)[i], b, b.args(y)[i])) return fmt::format("node {} '{}': argument {}", id, x.name, i);
    }
    for (uint32_t i = 0; i < x.keyword_count; ++i) {
      const Keyword& p = a.keywords(x)[i];
      const Keyword& q = b.keywords(y)[i];
      if (p.name != q.name || !equal_args(a, p.value, b, q.value))
        return fmt::format("node {} '{}': keyword '{}'", id, x.name, p.name);
    }
  }
  if (a.size() != b.size()) return fmt::format("{} nodes against {}", a.size(), b.size());
  return "";
}

bool equal(const Graph& a, const Graph& b) { return first_difference(a, b).empty(); }

}  // namespace passnet::ir
