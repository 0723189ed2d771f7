#include "fx/print.h"

#include <fmt/format.h>

#include <vector>

#include "fx/liveness.h"
#include "fx/syntax/statement.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::Node;
using ir::NodeId;
using ir::NodeKind;

namespace {

constexpr std::string_view kIndent = "        ";

void print_note(StatementPrinter& printer, std::span<const std::string> notes, NodeId id) {
  if (id >= notes.size() || notes[id].empty()) return;
  printer.put("  # ");
  printer.put(notes[id]);
}

// "def forward(self, L_x_: torch.Tensor, …):" and the alias lines.
void print_signature(StatementPrinter& printer, const ir::Graph& graph, std::span<const std::string> notes) {
  printer.put(notes.empty() ? "    def forward(self" : "    def forward(\n        self,\n");
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const Node& node = graph.node(id);
    printer.put(notes.empty() ? ", " : kIndent), printer.put(node.target);
    if (node.arg_count > 0) printer.put(": "), printer.put(graph.args(node)[0].string());
    if (notes.empty()) continue;
    printer.put(",");
    print_note(printer, notes, id);
    printer.put("\n");
  }
  printer.put(notes.empty() ? "):\n" : "    ):\n");
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const Node& node = graph.node(id);
    if (node.name == node.target) continue;
    printer.put(kIndent);
    printer.statement(node, false, "");
    printer.put("\n");
  }
}

}  // namespace

std::string print_model(const ir::Graph& graph, std::span<const std::string> notes) {
  StatementPrinter printer(graph);
  print_signature(printer, graph, notes);
  std::vector<NodeId> last = last_uses(graph);
  const std::string separator = fmt::format("\n{}", kIndent);
  for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    const auto args = graph.args(node);
    const bool later_use = !args.empty() && args[0].kind == ArgKind::Node && last[args[0].node] > id;
    printer.put(kIndent);
    printer.statement(node, later_use, separator);
    print_note(printer, notes, id);
    printer.put("\n");
    if (node.kind != NodeKind::Output)
      print_ends_of_life(printer, graph, id, last, kIndent, [](const Node&) { return true; });
  }
  std::string head = "import torch\n";
  for (std::string_view module : printer.needs().modules) head += fmt::format("import {}\n", module);
  std::string names;
  for (const auto& [used, name] :
       {std::pair{printer.needs().device, "device"}, {printer.needs().inf, "inf"}, {printer.needs().nan, "nan"}}) {
    if (used) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (!names.empty()) head += fmt::format("from torch import {}\n", names);
  head += "\n\nclass GraphModule(torch.nn.Module):\n";
  return std::move(printer.text().insert(0, head));
}

std::string print_node(const ir::Graph& graph, const Node& node) {
  StatementPrinter printer(graph);
  printer.statement(node, false, "; ");
  return std::move(printer.text());
}

std::string print_arg(const ir::Graph& graph, const Arg& value) {
  StatementPrinter printer(graph);
  printer.arg(value);
  return std::move(printer.text());
}

std::string print_string(std::string_view value) {
  std::string out;
  append_string(out, value, '"');
  return out;
}

std::string print_float(double value) {
  std::string out;
  append_float(out, value);
  return out;
}

}  // namespace passnet::fx
