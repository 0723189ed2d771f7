#include "rewrite/nearest_miss.h"

#include <fmt/format.h>

#include "base/place.h"
#include "base/text/strings.h"
#include "fx/print.h"

namespace passnet::rewrite {

using ir::NodeId;

namespace {

constexpr size_t kListedOperators = 12;
constexpr size_t kMostText = 1000;  // bytes of a line, and of a reason

std::string cut(std::string_view text) {
  if (text.size() <= kMostText) return std::string(text);
  size_t end = kMostText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;  // not inside a character
  return std::string(text.substr(0, end)) + "…";
}

/// The source line of a node, else the node printed.
std::string line_text(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!graph.source || node.offset >= graph.source->size()) return cut(fx::print_node(graph, node));
  const std::string_view text = *graph.source;
  const size_t before = text.rfind('\n', node.offset);
  const size_t start = before == std::string_view::npos ? 0 : before + 1;
  return cut(trim(text.substr(start, text.find('\n', node.offset) - start)));
}

void point_at_pattern(NearestMiss& miss, const Pattern& pattern, NodeId id) {
  miss.pattern_at = pattern.prepared->locate(id);
  miss.pattern_text = line_text(*pattern.graph, id);
}

void point_at_graph(NearestMiss& miss, const PreparedGraph& graph, NodeId id) {
  if (id == ir::kNoNode) return;
  miss.graph_at = graph.locate(id);
  miss.graph_text = line_text(graph.graph(), id);
}

/// "layer_norm"; "torch.foo" for "function:torch.foo"; "add_ (in place)".
std::string operator_text(std::string_view name) {
  const size_t colon = name.find(':');
  if (colon != std::string_view::npos) return std::string(name.substr(colon + 1));
  return std::string(name) + (name.ends_with('_') && !name.ends_with("__") ? " (in place)" : "");
}

/// What a value is, where an operator was expected.
std::string found_text(const PreparedGraph& graph, NodeId id) {
  const ir::Node& node = graph.graph().node(id);
  if (node.kind == ir::NodeKind::Placeholder) return fmt::format("the graph's input '{}'", node.name);
  return operator_text(graph.name(id));
}

std::string value_text(const ir::Graph& graph, const ir::Arg& arg) {
  if (arg.kind == ir::ArgKind::Node) return fmt::format("the value '{}'", graph.node(arg.node).name);
  return fx::print_arg(graph, arg);
}

std::string argument_text(PreparedGraph& graph, const Stop& stop) {
  const auto& names = graph.call(stop.graph_node).names;
  return fmt::format("argument '{}' of {}", stop.argument < names.size() ? names[stop.argument] : "?",
                     operator_text(graph.name(stop.graph_node)));
}

/// The one call that uses a value, when there is just one user and it is a call.
NodeId only_user(PreparedGraph& graph, NodeId id) {
  if (id == ir::kNoNode) return ir::kNoNode;
  const auto users = graph.users(id);
  return users.size() == 1 && !graph.name(users[0]).empty() ? users[0] : ir::kNoNode;
}

std::string no_user_text(const Pattern& pattern, PreparedGraph& graph, const Stop& stop) {
  const std::string expected = operator_text(pattern.prepared->name(stop.pattern_node));
  if (stop.graph_node == ir::kNoNode) return fmt::format("expected {}, found no other call of it", expected);
  if (const NodeId user = only_user(graph, stop.graph_node); user != ir::kNoNode)
    return fmt::format("expected {}, found {}", expected, operator_text(graph.name(user)));
  std::string found;
  for (const NodeId user : graph.users(stop.graph_node)) {
    const bool output = graph.graph().node(user).kind == ir::NodeKind::Output;
    found +=
        (found.empty() ? "" : ", ") + (output ? std::string("the graph's output") : operator_text(graph.name(user)));
  }
  return fmt::format("expected {} to use '{}', which is used by: {}", expected,
                     graph.graph().node(stop.graph_node).name, found.empty() ? "nothing" : found);
}

std::string reason_text(const Pattern& pattern, PreparedGraph& graph, const Stop& stop) {
  const ir::Graph& ours = *pattern.graph;
  const ir::Graph& theirs = graph.graph();
  const auto name_of = [&](const ir::Arg& arg) { return ours.node(arg.node).name; };
  switch (stop.why) {
    case Stop::Why::Operator:
      return fmt::format("expected {}, found {}", operator_text(pattern.prepared->name(stop.expected.node)),
                         found_text(graph, stop.found.node));
    case Stop::Why::Constant:
      return fmt::format("{}: found {}, expected the result of {}", argument_text(graph, stop),
                         value_text(theirs, stop.found), operator_text(pattern.prepared->name(stop.expected.node)));
    case Stop::Why::Literal:
      return fmt::format("{}: found {}, expected {}", argument_text(graph, stop), value_text(theirs, stop.found),
                         value_text(ours, stop.expected));
    case Stop::Why::Length:
      return fmt::format("{}: found {} elements, expected {}", argument_text(graph, stop), stop.found.count,
                         stop.expected.count);
    case Stop::Why::Shared:
      return fmt::format("{}: found {}, expected the value that '{}' of the pattern already stands for",
                         argument_text(graph, stop), value_text(theirs, stop.found), name_of(stop.expected));
    case Stop::Why::Input:
      return fmt::format("{}: found {}, but pattern input '{}' already stands for another value",
                         argument_text(graph, stop), value_text(theirs, stop.found), name_of(stop.expected));
    case Stop::Why::Container:
      return fmt::format("{}: found a list of values, but pattern input '{}' stands for one value",
                         argument_text(graph, stop), name_of(stop.expected));
    case Stop::Why::Twice:
      return fmt::format("'{}' would stand for two operators of the pattern", theirs.node(stop.found.node).name);
    case Stop::Why::NoUser: return no_user_text(pattern, graph, stop);
    case Stop::Why::Arguments:
      return fmt::format("{} is called with other arguments", operator_text(graph.name(stop.graph_node)));
    case Stop::Why::Sequence:
      return fmt::format("'{}' comes after '{}', but in the pattern before it, and one of them works in place",
                         theirs.node(stop.found.node).name, theirs.node(stop.graph_node).name);
    case Stop::Why::Budget: return "gave up: too many ways to order the operands of its commutative operators";
    case Stop::Why::None: break;
  }
  return "the graph has no operator";
}

/// The pattern's call that was looked for.
NodeId expected_call(const Stop& stop) {
  return stop.why == Stop::Why::Operator ? stop.expected.node : stop.pattern_node;
}

}  // namespace

NearestMiss explain(const Pattern& pattern, PreparedGraph& graph, const Stop& stop) {
  NearestMiss miss;
  miss.matched = stop.matched;
  miss.total = static_cast<uint32_t>(pattern.calls.size());
  miss.reason = cut(reason_text(pattern, graph, stop));
  point_at_pattern(miss, pattern, expected_call(stop));
  NodeId at = stop.graph_node;
  if (stop.why == Stop::Why::Operator && !graph.name(stop.found.node).empty()) at = stop.found.node;
  if (stop.why == Stop::Why::NoUser && only_user(graph, at) != ir::kNoNode) at = only_user(graph, at);
  point_at_graph(miss, graph, at);
  return miss;
}

NearestMiss explain(const Pattern& pattern, PreparedGraph& graph, const Refusal& refusal) {
  NearestMiss miss;
  miss.matched = miss.total = miss.fitting = static_cast<uint32_t>(pattern.calls.size());
  miss.refused = true;
  miss.reason = cut(refusal.reason);
  point_at_pattern(miss, pattern, refusal.pattern_node);
  point_at_graph(miss, graph, refusal.graph_node);
  return miss;
}

NearestMiss explain_missing(const Pattern& pattern, PreparedGraph& graph, NodeId call, const Stop& deepest) {
  const std::string_view name = pattern.prepared->name(call);
  const bool another = deepest.why == Stop::Why::Operator || deepest.why == Stop::Why::NoUser;
  if (another && pattern.prepared->name(expected_call(deepest)) == name) {
    NearestMiss miss = explain(pattern, graph, deepest);
    miss.reason += fmt::format("; the graph has no {} at all", operator_text(name));
    return miss;
  }
  NearestMiss miss;
  miss.matched = deepest.matched;
  miss.total = static_cast<uint32_t>(pattern.calls.size());
  point_at_pattern(miss, pattern, call);
  const std::string sibling =
      name.ends_with('_') ? std::string(name.substr(0, name.size() - 1)) : std::string(name) + "_";
  if (const auto siblings = graph.calls_of(sibling); !siblings.empty()) {
    point_at_graph(miss, graph, siblings.front());
    miss.reason =
        fmt::format("the graph has no {}, only {}", operator_text(name),
                    sibling.ends_with('_') ? operator_text(sibling) : sibling + ", which does not work in place");
    return miss;
  }
  std::string list;
  const auto operators = graph.operators();
  for (size_t i = 0; i < operators.size(); ++i) {
    if (i == kListedOperators) list += ", …";
    if (i < kListedOperators) list += (i == 0 ? "" : ", ") + operator_text(operators[i]);
  }
  miss.reason =
      fmt::format("the graph has no {} at all; it has: {}", operator_text(name), list.empty() ? "no operators" : list);
  return miss;
}

std::string to_string(const NearestMiss& miss) {
  const auto place = [](const char* what, const SourceLoc& at, const std::string& text) {
    return fmt::format("\n  {} {}: {}", what, to_string(at), text);
  };
  const std::string many = fmt::format("{} operator{}", miss.total, miss.total == 1 ? "" : "s");
  std::string out = miss.refused ? fmt::format("refused: {} found", many)
                                 : fmt::format("nearest miss: {} of {} fit", miss.fitting, many);
  out += fmt::format("\n  reason: {}", miss.reason);
  out += place("pattern", miss.pattern_at, miss.pattern_text);
  if (!miss.graph_text.empty()) out += place("graph", miss.graph_at, miss.graph_text);
  return out;
}

}  // namespace passnet::rewrite
