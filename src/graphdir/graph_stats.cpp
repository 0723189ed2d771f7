#include "graphdir/graph_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace passnet::graphdir {

using ir::NodeKind;

namespace {

constexpr NodeKind kBodyKinds[] = {NodeKind::CallFunction, NodeKind::CallMethod, NodeKind::Operator,
                                   NodeKind::Attribute};

double share(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

size_t all_calls(const GraphStats& stats) {
  size_t calls = 0;
  for (NodeKind kind : kBodyKinds) calls += stats.calls(kind);
  return calls;
}

}  // namespace

GraphStats::GraphStats(const ir::Graph& graph)
    : graphs(1), nodes(graph.size()), placeholders(graph.placeholder_count()) {
  for (const ir::Node& node : graph.nodes()) {
    if (node.kind == NodeKind::Placeholder) continue;
    if (node.kind == NodeKind::Output) {
      for_each_input(graph, node, [&](ir::NodeId) { ++outputs; });
      continue;
    }
    auto found = counts_.find(std::pair(node.kind, node.target));
    if (found == counts_.end())
      found = counts_.emplace(std::pair(node.kind, std::string(node.target)), Count{0, 1}).first;
    ++found->second.calls;
  }
}

void GraphStats::add(const GraphStats& other) {
  graphs += other.graphs;
  nodes += other.nodes;
  placeholders += other.placeholders;
  outputs += other.outputs;
  for (const auto& [key, count] : other.counts_) {
    Count& sum = counts_[key];
    sum.calls += count.calls;
    sum.graphs += count.graphs;
  }
}

size_t GraphStats::calls(NodeKind kind) const {
  size_t calls = 0;
  for (auto at = counts_.lower_bound(std::pair(kind, std::string_view()));
       at != counts_.end() && at->first.first == kind; ++at)
    calls += at->second.calls;
  return calls;
}

std::vector<OperatorCount> GraphStats::operators() const {
  std::vector<OperatorCount> operators;
  for (const auto& [key, count] : counts_) operators.push_back({key.first, key.second, count.calls, count.graphs});
  std::ranges::stable_sort(operators, std::ranges::greater{}, &OperatorCount::calls);
  return operators;
}

Json to_json(const GraphStats& stats) {
  const size_t calls = all_calls(stats);
  Json kinds = Json::object(), operators = Json::array();
  for (NodeKind kind : kBodyKinds) kinds[std::string(kind_name(kind))] = stats.calls(kind);
  for (const OperatorCount& count : stats.operators()) {
    operators.push_back({{"kind", kind_name(count.kind)},
                         {"target", count.target},
                         {"calls", count.calls},
                         {"share", share(count.calls, calls)},
                         {"graphs", count.graphs}});
  }
  return {{"graphs", stats.graphs},           {"nodes", stats.nodes}, {"placeholders", stats.placeholders},
          {"outputs", stats.outputs},         {"calls", calls},       {"kinds", std::move(kinds)},
          {"operators", std::move(operators)}};
}

std::string render_stats(const GraphStats& stats) {
  constexpr size_t kBarCells = 20;
  const size_t calls = all_calls(stats);
  const std::vector<OperatorCount> operators = stats.operators();
  const size_t most = operators.empty() ? 1 : operators.front().calls;
  std::string out = fmt::format("{} graphs, {} nodes, {} placeholders, {} outputs, {} calls of {} operators\n\n",
                                stats.graphs, stats.nodes, stats.placeholders, stats.outputs, calls, operators.size());
  out += fmt::format("{:>9}  {:>6}  {:<{}}  {:>7}  operator\n", "calls", "share", "", kBarCells, "graphs");
  for (const OperatorCount& row : operators) {
    const size_t cells = (row.calls * kBarCells + most - 1) / most;
    out += fmt::format("{:9}  {:5.1f}%  {:<{}}  {:7}  {} {}\n", row.calls, 100 * share(row.calls, calls),
                       std::string(cells, '#'), kBarCells, row.graphs, kind_name(row.kind), row.target);
  }
  out += "\n";
  for (NodeKind kind : kBodyKinds) {
    out +=
        fmt::format("{:9}  {:5.1f}%  {}s\n", stats.calls(kind), 100 * share(stats.calls(kind), calls), kind_name(kind));
  }
  return out;
}

std::string_view kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::Placeholder: return "placeholder";
    case NodeKind::CallFunction: return "function";
    case NodeKind::CallMethod: return "method";
    case NodeKind::Operator: return "operator";
    case NodeKind::Attribute: return "attribute";
    case NodeKind::Output: return "output";
  }
  return "unknown";
}

}  // namespace passnet::graphdir
