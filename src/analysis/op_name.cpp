#include "analysis/op_name.h"

#include <algorithm>
#include <string_view>

#include "fx/syntax/operators.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

namespace {

std::string function_name(std::string_view target) {
  std::string_view name = target.substr(target.rfind('.') + 1);
  // An overload is part of the name: torch.ops.aten.add.Tensor is "add.Tensor".
  if (target.starts_with("torch.ops.")) {
    const std::string_view before = target.substr(0, target.size() - name.size() - 1);
    name = target.substr(before.rfind('.') + 1);
  }
  return std::string(name);
}

}  // namespace

std::string op_name(const ir::Node& node) {
  switch (node.kind) {
    case ir::NodeKind::CallMethod: return "Tensor." + std::string(node.target);
    case ir::NodeKind::CallFunction: return function_name(node.target);
    case ir::NodeKind::Operator: {
      const fx::OperatorRow* row = fx::find_operator(node.target);
      return std::string(row == nullptr ? node.target : row->function);
    }
    case ir::NodeKind::Attribute: return "getattr";
    default: return "";
  }
}

std::string canonical_op_name(const ir::Node& node) {
  const std::string_view canonical = ir::canonical_name(node);
  return canonical.empty() ? op_name(node) : std::string(canonical);
}

size_t body_size(const ir::Graph& graph) {
  const size_t inner = graph.size() - graph.placeholder_count();
  return graph.output() == ir::kNoNode ? inner : inner - 1;
}

std::vector<std::string> op_names(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (size_t i = 0; i < body_size(graph); ++i) names.push_back(op_name(graph.node(body_node(graph, i))));
  return names;
}

std::vector<Range> ranges_of_ops(const ir::Graph& graph, std::span<const std::string> ops) {
  const std::vector<std::string> names = op_names(graph);
  std::vector<Range> ranges;
  for (auto from = names.begin();; ++from) {
    from = std::search(from, names.end(), ops.begin(), ops.end());
    if (from == names.end()) return ranges;
    const auto start = static_cast<size_t>(from - names.begin());
    ranges.push_back({start, start + ops.size()});
  }
}

}  // namespace passnet::analysis
