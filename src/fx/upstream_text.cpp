#include "fx/upstream_text.h"

#include <fmt/format.h>

#include <vector>

#include "fx/liveness.h"
#include "fx/syntax/statement.h"

namespace passnet::fx {

using ir::NodeId;
using ir::NodeKind;

namespace {

// Upstream looks for the words anywhere in the code. separator: what stands before each line but the first.
std::string imports_for(std::string_view code, std::string_view separator) {
  std::string text = "import torch\n";
  for (const std::string_view word : {"device", "inf"}) {
    if (code.find(word) != std::string_view::npos) text += fmt::format("{}from torch import {}\n", separator, word);
  }
  return text;
}

}  // namespace

std::string print_unparsed(const ir::Graph& graph) {
  StatementPrinter printer(graph, TextStyle::Unparsed);
  printer.put("class GraphModule(torch.nn.Module):\n\n    def forward(self");
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) printer.put(", "), printer.put(graph.node(id).target);
  printer.put("):\n");
  std::vector<NodeId> last = last_uses(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (node.kind == NodeKind::Placeholder && node.name == node.target) continue;
    printer.put("        ");
    printer.statement(node, false, "\n        ");
    if (node.kind == NodeKind::Output) break;
    printer.put("\n");
    if (node.kind == NodeKind::Placeholder) continue;
    print_ends_of_life(printer, graph, id, last, "        ", [](const ir::Node& dead) {
      return dead.kind != NodeKind::Placeholder || dead.name != dead.target;
    });
  }
  std::string text = std::move(printer.text());
  return text.insert(0, imports_for(text, "") + "\n");
}

std::string wrap_traced(std::string_view code) {
  std::string text = imports_for(code, "\n") + "\nclass GraphModule(torch.nn.Module):\n    ";
  for (const char c : code) {
    text += c;
    if (c == '\n') text += "    ";
  }
  return text;
}

}  // namespace passnet::fx
