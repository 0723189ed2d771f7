#include "fx/dot.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "fx/picture.h"
#include "fx/print.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {

constexpr size_t kMaxLineBytes = 80;
constexpr size_t kLargeGraph = 300;  // nodes

// "L_self_modules_layer1_modules_0_modules_conv1_parameters_weight_" -> "layer1.0.conv1.weight".
std::string weight_name(std::string_view target) {
  std::string name(target);
  const auto replace_all = [&](std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = name.find(from, at)) != std::string::npos; at += to.size())
      name.replace(at, from.size(), to);
  };
  for (std::string_view prefix : {"L_self_modules_", "L_self_parameters_", "L_self_buffers_", "L_self_"}) {
    if (!name.starts_with(prefix)) continue;
    name.erase(0, prefix.size());
    if (name.ends_with('_')) name.pop_back();
    break;
  }
  for (std::string_view part : {"_modules_", "_parameters_", "_buffers_"}) replace_all(part, ".");
  return name;
}

struct Look {
  std::string_view shape, fill;
};

Look look_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Placeholder: return {"ellipse", "#cfe8cf"};
    case NodeKind::CallFunction: return {"box", "#d6e6f5"};
    case NodeKind::CallMethod: return {"box", "#e7f0f7"};
    case NodeKind::Operator: return {"box", "#fdf0cd"};
    case NodeKind::Attribute: return {"box", "#eeeeee"};
    case NodeKind::Output: return {"ellipse", "#f7d4cf"};
  }
  return {"box", "#ffffff"};
}

// Cut between characters of UTF-8.
std::string shortened(std::string text) {
  if (text.size() <= kMaxLineBytes) return text;
  size_t keep = kMaxLineBytes;
  while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xc0) == 0x80) --keep;
  return text.substr(0, keep) + "…";
}

// For a string in double quotes: nothing in it can end the string or mean something to Graphviz.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

class DotPrinter {
 public:
  DotPrinter(const ir::Graph& graph, std::span<const std::string> shapes)
      : graph_(graph), shapes_(shapes), seen_by_(graph.size(), ir::kNoNode) {}

  std::string print() {
    out_ =
        "digraph model {\n  rankdir=TB;\n  ranksep=0.3;\n"
        "  node [style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=10, margin=\"0.12,0.05\", "
        "color=\"#7a8794\"];\n"
        "  edge [fontname=\"Helvetica\", fontsize=8, fontcolor=\"#55606b\", color=\"#7a8794\", "
        "arrowsize=0.6];\n";
    // Otherwise Graphviz improves the layout of a large graph for minutes, to little effect.
    if (graph_.size() > kLargeGraph) out_ += "  nslimit=2;\n  nslimit1=2;\n  mclimit=0.3;\n";
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (is_weight(graph_, id)) continue;
      node(id);
      edges(id);
    }
    return std::move(out_ += "}\n");
  }

 private:
  std::string_view shape(NodeId id) const { return id < shapes_.size() ? std::string_view(shapes_[id]) : ""; }

  void node(NodeId id) {
    const ir::Node& node = graph_.node(id);
    const Look look = look_of(node.kind);
    out_ += fmt::format("  n{} [shape={}, fillcolor=\"{}\"", id, look.shape, look.fill);
    if (changes_its_argument(node)) out_ += ", color=\"#c0392b\", penwidth=2";
    out_ += ", label=\"";
    bool first = true;
    for (const std::string& line : lines(id)) {
      if (!std::exchange(first, false)) out_ += "\\n";
      out_ += escaped(shortened(line));
    }
    out_ += "\"";
    if (node.kind != NodeKind::Output)
      out_ += fmt::format(", tooltip=\"{}\"", escaped(shortened(std::string(node.name))));
    out_ += "];\n";
  }

  std::vector<std::string> lines(NodeId id) {
    const ir::Node& node = graph_.node(id);
    if (node.kind == NodeKind::Placeholder || node.kind == NodeKind::Output) return {title_of(node)};
    std::vector<std::string> lines{title_of(node)};
    std::string literals;
    const auto add = [&](std::string_view name, const Arg& value) {
      if (value.kind == ArgKind::Node) return;
      literals += fmt::format("{}{}{}", literals.empty() ? "" : ", ", name, print_arg(graph_, value));
    };
    for (const Arg& value : graph_.args(node)) add("", value);
    for (const ir::Keyword& keyword : graph_.keywords(node)) add(fmt::format("{} = ", keyword.name), keyword.value);
    if (!literals.empty()) lines.push_back(std::move(literals));
    for_each_input(graph_, node, [&](NodeId input) {
      if (!is_weight(graph_, input) || std::exchange(seen_by_[input], id) == id) return;
      const std::string_view known = shape(input);
      lines.push_back(fmt::format("{}{}{}", weight_name(graph_.node(input).target), known.empty() ? "" : "  ", known));
    });
    return lines;
  }

  void edges(NodeId id) {
    for_each_input(graph_, graph_.node(id), [&](NodeId input) {
      if (is_weight(graph_, input) || std::exchange(seen_by_[input], id) == id) return;
      const std::string_view known = shape(input);
      out_ += known.empty() ? fmt::format("  n{} -> n{};\n", input, id)
                            : fmt::format("  n{} -> n{} [label=\" {}\"];\n", input, id, escaped(known));
    });
  }

  const ir::Graph& graph_;
  std::span<const std::string> shapes_;
  std::vector<NodeId> seen_by_;  // by input: the last node that named it
  std::string out_;
};

}  // namespace

std::string print_dot(const ir::Graph& graph, std::span<const std::string> shapes) {
  return DotPrinter(graph, shapes).print();
}

}  // namespace passnet::fx
