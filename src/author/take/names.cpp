#include "author/take/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "author/take/operators.h"
#include "base/strings.h"
#include "fx/print.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr size_t kMostNamed = 4;  // operators in the name of a pass

std::string arg_key(const ir::Graph& graph, const Arg& arg, const std::map<NodeId, std::string>& names) {
  if (arg.kind == ArgKind::Node) return names.at(arg.node);
  if (arg.kind != ArgKind::Tuple && arg.kind != ArgKind::List && arg.kind != ArgKind::Slice)
    return fx::print_arg(graph, arg);
  std::string key = "(";
  for (const Arg& element : graph.elements(arg)) key += arg_key(graph, element, names) + ",";
  return key + ")";
}

}  // namespace

std::string key_of(const Subject& subject, const GraphPart& part) {
  const ir::Graph& graph = subject.graph;
  std::map<NodeId, std::string> names;
  std::string key;
  for (const NodeId id : part.inputs) {
    names[id] = fmt::format("i{}", names.size());
    for (const ValueType& type : subject.types_of(id))
      key +=
          fmt::format("{}:{}:{} ", ir::name(type.tensor.dtype), type.tensor.shape.size(), type.tensor.is_contiguous());
  }
  for (const NodeId id : part.nodes) {
    const ir::Node& node = graph.node(id);
    names[id] = fmt::format("n{}", names.size());
    key += fmt::format("{}{}(", static_cast<int>(node.kind), node.target);
    for (const Arg& arg : graph.args(node)) key += arg_key(graph, arg, names) + ",";
    for (const ir::Keyword& keyword : graph.keywords(node))
      key += fmt::format("{}={},", keyword.name, arg_key(graph, keyword.value, names));
    key += ")";
  }
  for (const NodeId id : part.outputs) key += names.at(id) + " ";
  return key;
}

std::string name_of(Subject& subject, const GraphPart& part, const ProductOptions& calls) {
  Definitions definitions(subject, calls);
  std::vector<std::string> operators;
  if (define(definitions, part)) operators = operator_names(subject.graph, definitions, part);
  if (operators.empty()) operators.push_back("copy");
  operators.erase(std::unique(operators.begin(), operators.end()), operators.end());
  if (operators.size() > kMostNamed) {
    // The begin and the end of a part say more than what lies between.
    operators.erase(operators.begin() + 2, operators.end() - 2);
  }
  const std::string name = fmt::format("{}", fmt::join(operators, "_"));
  return operators.size() == 1 ? "fused_" + name : name;
}

std::string unique_name(const Subject& subject, const std::string& stem, std::set<std::string>& taken) {
  return numbered(stem,
                  [&](const std::string& one) { return taken.insert(one).second && !subject.names.contains(one); });
}

}  // namespace passnet::author
