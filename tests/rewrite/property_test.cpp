// Properties over random graphs: a piece cut out of a graph is found there, replacing keeps graphs legal.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "ir/ops/table.h"
#include "rewrite/order.h"
#include "tests/rewrite/text.h"

namespace passnet::rewrite {
namespace {

using ir::Arg;
using ir::NodeId;

/// A random straight-line graph of unary, binary and list operators and, if asked for, views and in-place
/// operators; two placeholders; returns its sinks and sometimes one more value.
ir::Graph random_graph(bool with_in_place) {
  static constexpr std::string_view kUnary[] = {"exp", "sin", "relu", "sigmoid"};
  static constexpr std::string_view kBinary[] = {"+", "-", "*"};
  ir::Graph graph;
  graph.add_placeholder("a", "a");
  graph.add_placeholder("b", "b");
  const int count = *rc::gen::inRange(3, 14);
  for (int i = 0; i < count; ++i) {
    const auto value = [&] { return Arg::of_node(*rc::gen::inRange<NodeId>(0, graph.size())); };
    const std::string_view name = graph.intern(fmt::format("n{}", i));
    const int kind = *rc::gen::inRange(0, with_in_place ? 8 : 5);
    if (kind < 2) {
      const Arg args[] = {value()};
      graph.add_node(ir::NodeKind::CallMethod, kUnary[*rc::gen::inRange(0, 4)], name, args);
    } else if (kind < 4) {
      const Arg args[] = {value(), value()};
      graph.add_node(ir::NodeKind::Operator, kBinary[*rc::gen::inRange(0, 3)], name, args);
    } else if (kind == 4) {
      const Arg elements[] = {value(), value()};
      const Arg args[] = {graph.make_container(ir::ArgKind::List, elements), Arg::of_int(1)};
      graph.add_node(ir::NodeKind::CallFunction, "torch.cat", name, args);
    } else if (kind == 5) {
      const Arg args[] = {value(), Arg::of_int(-1)};
      graph.add_node(ir::NodeKind::CallMethod, "view", name, args);
    } else {
      const Arg args[] = {value(), Arg::of_int(i + 1)};
      graph.add_node(ir::NodeKind::Operator, "+=", name, args);
    }
  }
  std::vector<Arg> sinks;
  const auto users = ir::users(graph);
  for (NodeId id = graph.placeholder_count(); id < graph.size(); ++id) {
    if (users[id].empty()) sinks.push_back(Arg::of_node(id));
  }
  if (*rc::gen::arbitrary<bool>()) sinks.push_back(Arg::of_node(*rc::gen::inRange<NodeId>(0, graph.size())));
  graph.add_output(graph.make_container(ir::ArgKind::Tuple, sinks));
  return graph;
}

/// A connected set of calls that can be replaced: grown from one node over its neighbours while it stays
/// convex.
std::vector<NodeId> random_piece(const ir::Graph& graph) {
  const auto users = ir::users(graph);
  std::vector<bool> in(graph.size());
  const NodeId start = *rc::gen::inRange<NodeId>(graph.placeholder_count(), graph.size() - 1);
  in[start] = true;
  const auto convex = [&] {
    std::vector<bool> after(graph.size());  // reached from the piece through a node outside it
    for (NodeId id = 0; id < graph.size(); ++id) {
      bool reached = false, touches = false;
      ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
        reached = reached || after[input];
        touches = touches || in[input];
      });
      if (in[id] && reached) return false;
      after[id] = !in[id] && (reached || touches);
    }
    return true;
  };
  const int steps = *rc::gen::inRange(0, 6);
  for (int i = 0; i < steps; ++i) {
    std::vector<NodeId> near;
    for (NodeId id = graph.placeholder_count(); id + 1 < graph.size(); ++id) {
      if (in[id]) continue;
      bool touches = std::any_of(users[id].begin(), users[id].end(), [&](NodeId user) { return in[user]; });
      ir::for_each_input(graph, graph.node(id), [&](NodeId input) { touches = touches || in[input]; });
      if (touches) near.push_back(id);
    }
    if (near.empty()) break;
    const NodeId pick = near[*rc::gen::inRange<size_t>(0, near.size())];
    in[pick] = true;
    if (!convex()) in[pick] = false;
  }
  std::vector<NodeId> piece;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (in[id]) piece.push_back(id);
  }
  return piece;
}

/// The piece as a pattern of its own: inputs become placeholders, values used outside are returned. `swap`
/// exchanges the operands of `+` and `*`.
ir::Graph cut(const ir::Graph& graph, const std::vector<NodeId>& piece, bool swap) {
  ir::Graph pattern;
  std::vector<Arg> map(graph.size());
  std::vector<bool> known(graph.size());
  const auto inside = [&](NodeId id) { return std::binary_search(piece.begin(), piece.end(), id); };
  for (const NodeId id : piece) {
    ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (inside(input) || known[input]) return;
      known[input] = true;
      const auto name = pattern.intern(fmt::format("p{}", input));
      map[input] = Arg::of_node(pattern.add_placeholder(name, name));
    });
  }
  std::vector<Arg> outputs;
  const auto users = ir::users(graph);
  for (const NodeId id : piece) {
    const ir::Node& node = graph.node(id);
    std::vector<Arg> args;
    for (const Arg& arg : graph.args(node)) args.push_back(pattern.import_arg(graph, arg, map));
    if (swap && (node.target == "+" || node.target == "*")) std::swap(args[0], args[1]);
    map[id] = Arg::of_node(pattern.add_node(node.kind, pattern.intern(node.target), pattern.intern(node.name), args));
    if (!std::all_of(users[id].begin(), users[id].end(), inside)) outputs.push_back(map[id]);
  }
  pattern.add_output(pattern.make_container(ir::ArgKind::Tuple, outputs));
  return pattern;
}

/// The match covers exactly the piece, or an equal piece elsewhere.
void check_found(const MatchReport& report, const ir::Graph& graph) {
  RC_ASSERT(!report.matches.empty());
  std::vector<bool> taken(graph.size());
  for (const Match& match : report.matches) {
    for (size_t i = match.inputs.size(); i < match.nodes.size(); ++i) {
      if (match.nodes[i] == ir::kNoNode) continue;
      RC_ASSERT(!taken[match.nodes[i]]);
      taken[match.nodes[i]] = true;
    }
  }
}

RC_GTEST_PROP(MatchProperty, APieceOfAGraphIsFoundInIt, ()) {
  ir::Graph graph = random_graph(false);
  const std::vector<NodeId> piece = random_piece(graph);
  auto report = find_matches(cut(graph, piece, false), graph);
  RC_ASSERT(report.has_value());
  check_found(*report, graph);
}

RC_GTEST_PROP(MatchProperty, SwappedOperandsOfSumsAndProductsAreFoundToo, ()) {
  ir::Graph graph = random_graph(false);
  const std::vector<NodeId> piece = random_piece(graph);
  auto report = find_matches(cut(graph, piece, true), graph);
  RC_ASSERT(report.has_value());
  check_found(*report, graph);
}

RC_GTEST_PROP(MatchProperty, StrictFindsAPieceToo, ()) {
  ir::Graph graph = random_graph(false);
  const std::vector<NodeId> piece = random_piece(graph);
  auto report = find_matches(cut(graph, piece, false), graph, {.strict = true});
  RC_ASSERT(report.has_value());
  check_found(*report, graph);
}

RC_GTEST_PROP(MatchProperty, EveryFailureSaysWhy, (bool strict)) {
  ir::Graph graph = random_graph(true);
  const ir::Graph other = random_graph(true);
  auto report = find_matches(cut(other, random_piece(other), false), graph, {.strict = strict});
  if (!report) {  // an in-place operator may make a value of the pattern unused
    RC_ASSERT(report.error().kind == Error::Kind::BadPass);
    return;
  }
  RC_ASSERT(report->matches.empty() == report->miss.has_value());
  if (report->miss) RC_ASSERT(!report->miss->reason.empty() && report->miss->matched <= report->miss->total);
}

/// Runs graphs on numbers. Values are cells, so that views and in-place operators behave as they do on
/// tensors; a fused call runs the pattern on copies of its inputs and returns copies.
class Machine {
 public:
  explicit Machine(const ir::Graph& pattern) : pattern_(pattern) {}

  std::vector<uint64_t> run(const ir::Graph& graph, const std::vector<uint64_t>& inputs) const {
    std::vector<uint64_t> cells(inputs);
    std::vector<std::vector<size_t>> values(graph.size());  // cells of each node; several for a fused call
    const auto cell = [&](const Arg& arg) { return values[arg.node][0]; };
    const auto read = [&](const Arg& arg) {
      return arg.kind == ir::ArgKind::Node ? cells[cell(arg)] : uint64_t(arg.integer);
    };
    const auto fresh = [&](uint64_t value) {
      cells.push_back(value);
      return cells.size() - 1;
    };
    for (NodeId id = 0; id < graph.size(); ++id) {
      const ir::Node& node = graph.node(id);
      const auto args = graph.args(id);
      if (node.kind == ir::NodeKind::Placeholder)
        values[id] = {id};
      else if (node.kind == ir::NodeKind::Output)
        break;
      else if (node.target == "view")
        values[id] = values[args[0].node];
      else if (node.target == "getitem")
        values[id] = {values[args[0].node].at(size_t(args[1].integer))};
      else if (node.target == "+=") {
        cells[cell(args[0])] += read(args[1]);
        values[id] = {cell(args[0])};
      } else if (node.target == ir::kFusedTarget) {
        std::vector<uint64_t> copies;
        for (const Arg& arg : args.subspan(1)) copies.push_back(read(arg));
        for (const uint64_t output : run(pattern_, copies)) values[id].push_back(fresh(output));
      } else if (node.target == "torch.cat") {
        const auto parts = graph.elements(args[0]);
        values[id] = {fresh(read(parts[0]) * 31 + read(parts[1]) * 17 + 5)};
      } else if (node.target == "+")
        values[id] = {fresh(read(args[0]) + read(args[1]))};
      else if (node.target == "-")
        values[id] = {fresh(read(args[0]) - read(args[1]))};
      else if (node.target == "*")
        values[id] = {fresh(read(args[0]) * read(args[1]))};
      else
        values[id] = {fresh(read(args[0]) * 0x9e3779b97f4a7c15u + node.target.size() * 7 + uint64_t(node.target[0]))};
    }
    std::vector<uint64_t> outputs;
    for (const Arg& arg : graph.elements(graph.args(graph.output())[0])) outputs.push_back(read(arg));
    return outputs;
  }

 private:
  const ir::Graph& pattern_;
};

RC_GTEST_PROP(RewriteProperty, ComputesTheSame, ()) {
  ir::Graph graph = random_graph(true);
  const ir::Graph pattern = cut(graph, random_piece(graph), *rc::gen::arbitrary<bool>());
  auto report = find_matches(pattern, graph);
  if (!report) RC_DISCARD("the piece is not a pattern: an in-place operator made one of its values unused");
  std::vector<Site> sites = sites_of(*report);
  for (Site& site : sites) {  // the pattern runs on all of its inputs, in order
    site.inputs.clear();
    for (const Arg& input : site.match.inputs) site.inputs.push_back(input.node);
  }
  const ir::Graph rewritten = rewrite::apply(graph, sites);
  const auto legal = ir::verify(rewritten);
  RC_ASSERT(legal.has_value());
  RC_CLASSIFY(!sites.empty(), "replaced");
  RC_LOG() << "graph:\n" << body(graph) << "pattern:\n" << body(pattern) << "rewritten:\n" << body(rewritten);
  const Machine machine(pattern);
  const std::vector<uint64_t> inputs = {3, 1000003};
  RC_ASSERT(machine.run(rewritten, inputs) == machine.run(graph, inputs));
}

RC_GTEST_PROP(RewriteProperty, WithoutSitesTheGraphIsTheSame, ()) {
  const ir::Graph graph = random_graph(true);
  RC_ASSERT(ir::equal(graph, rewrite::apply(graph, {})));
}

}  // namespace
}  // namespace passnet::rewrite
