#include "graphdir/graph_hash.h"

#include <fmt/format.h>

#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "fx/liveness.h"
#include "fx/retrace.h"
#include "fx/syntax/statement.h"

namespace passnet::graphdir {

using ir::NodeId;
using ir::NodeKind;

namespace {

enum class Arguments { BySignature, ByUse, OwnNames };

constexpr HashRule kRules[] = {HashRule::Graph, HashRule::Retraced, HashRule::RetracedByUse, HashRule::OwnNames,
                               HashRule::ModelText};

// The arguments that something uses, in the order of the signature or of their first use.
std::vector<NodeId> used_arguments(const ir::Graph& graph, bool by_use) {
  std::vector<NodeId> order;
  std::vector<bool> seen(graph.placeholder_count());
  for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (input >= seen.size() || seen[input]) return;
      seen[input] = true;
      order.push_back(input);
    });
  }
  if (by_use) return order;
  order.clear();
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
    if (seen[id]) order.push_back(id);
  }
  return order;
}

// `v0 : torch.Tensor`, `v2 : …` in the signature and `v1 = v0`, … below it, under which the body knows them.
std::string numbered_signature(ir::Graph& graph, const std::vector<NodeId>& arguments) {
  std::string parameters = "self", aliases;
  for (size_t i = 0; i < arguments.size(); ++i) {
    parameters += fmt::format(", v{} : torch.Tensor", 2 * i);
    aliases += fmt::format("    v{} = v{}\n", 2 * i + 1, 2 * i);
    graph.rename(arguments[i], graph.intern(fmt::format("v{}", 2 * i + 1)));
  }
  return fmt::format("\n\n\ndef forward({}):\n{}", parameters, aliases);
}

std::string own_signature(const ir::Graph& graph) {
  std::string parameters = "self", aliases;
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) {
    const ir::Node& node = graph.node(id);
    parameters += fmt::format(", {}", node.target);
    if (node.arg_count > 0) parameters += fmt::format(" : {}", graph.args(node)[0].string());
    if (node.name != node.target) aliases += fmt::format("    {} = {}\n", node.name, node.target);
  }
  return fmt::format("\n\n\ndef forward({}):\n{}", parameters, aliases);
}

// torch.fx's own layout: one node per line, and behind it the names that end there.
std::string print_traced(ir::Graph graph, Arguments arguments) {
  fx::StatementPrinter printer(graph, fx::TextStyle::Traced);
  printer.put(arguments == Arguments::OwnNames
                  ? own_signature(graph)
                  : numbered_signature(graph, used_arguments(graph, arguments == Arguments::ByUse)));
  std::vector<NodeId> last = last_uses(graph);
  for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    printer.put("    ");
    printer.statement(node, false, ";  ");
    if (node.kind != NodeKind::Output) {
      bool any = false;
      fx::for_each_end_of_life(graph, id, last, [&](NodeId dead) {
        printer.put(any ? " = " : ";  "), printer.put(graph.node(dead).name);
        any = true;
      });
      if (any) printer.put(" = None");
    }
    printer.put("\n");
  }
  printer.put("    ");
  return std::move(printer.text());
}

}  // namespace

std::string_view name(HashRule rule) {
  switch (rule) {
    case HashRule::Graph: return "graph";
    case HashRule::Retraced: return "retraced";
    case HashRule::RetracedByUse: return "retraced-by-use";
    case HashRule::OwnNames: return "own-names";
    case HashRule::ModelText: return "model-text";
  }
  return "unknown";
}

std::string hashed_text(const ir::Graph& graph, HashRule rule) {
  switch (rule) {
    case HashRule::Graph: return print_traced(graph, Arguments::BySignature);
    case HashRule::Retraced: return print_traced(fx::trace_again(graph), Arguments::BySignature);
    case HashRule::RetracedByUse: return print_traced(fx::trace_again(graph), Arguments::ByUse);
    case HashRule::OwnNames: return print_traced(graph, Arguments::OwnNames);
    case HashRule::ModelText: break;
  }
  PASSNET_CHECK(graph.source != nullptr, "the hash of a text needs the text");
  return *graph.source;
}

std::string graph_hash(const ir::Graph& graph, HashRule rule) { return sha256_hex(hashed_text(graph, rule)); }

std::optional<HashRule> find_hash_rule(const ir::Graph& graph, std::string_view stored) {
  for (HashRule rule : kRules) {
    if (rule == HashRule::ModelText && graph.source == nullptr) continue;
    if (graph_hash(graph, rule) == stored) return rule;
  }
  return std::nullopt;
}

}  // namespace passnet::graphdir
