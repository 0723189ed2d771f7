#include "author/take/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "author/take/operators.h"
#include "base/text/strings.h"
#include "fx/print.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr size_t kMostNamed = 4;  // operators in the name of a pass

/// Groups of operators that models have words for; the longer of two that begin alike stands first.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"pow mean add rsqrt mul mul", "rms_norm"},
    {"pow mean add rsqrt mul", "rms_norm"},
    {"mean sub pow mean add sqrt div mul add", "layer_norm"},
    {"mean sub pow mean add sqrt div", "layer_norm"},
    {"amax sub exp sum div", "softmax"},
    {"mul neg cat mul add", "rotary"},
    {"mul neg stack mul add", "rotary"},
    {"mul pow mul add mul tanh add mul", "gelu"},
    {"mul div erf add mul", "gelu"},
    {"gelu mul", "geglu"},
    {"silu mul", "swiglu"},
};

/// Returns how many operators from `begin` on are those, conversions between them not counted; 0: they are others.
size_t matched(const std::vector<std::string>& operators, size_t begin, std::string_view words) {
  size_t at = begin;
  for (const std::string_view word : split(words, ' ')) {
    while (at > begin && at < operators.size() && operators[at] == "to") ++at;
    if (at == operators.size() || operators[at] != word) return 0;
    ++at;
  }
  return at - begin;
}

/// "add", "rms_norm" of "add", "pow", "mean", "add", "rsqrt", "mul". Returns false where no group has a word.
bool name_groups(std::vector<std::string>& operators) {
  bool found = false;
  for (size_t i = 0; i < operators.size(); ++i) {
    for (const auto& [words, name] : kWords) {
      const size_t count = matched(operators, i, words);
      if (count == 0) continue;
      found = true;
      operators[i] = name;
      operators.erase(operators.begin() + static_cast<ptrdiff_t>(i) + 1,
                      operators.begin() + static_cast<ptrdiff_t>(i + count));
      break;
    }
  }
  return found;
}

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
  const bool has_word = name_groups(operators);
  operators.erase(std::unique(operators.begin(), operators.end()), operators.end());
  if (operators.size() > kMostNamed) {
    // The begin and the end of a part say more than what lies between.
    operators.erase(operators.begin() + 2, operators.end() - 2);
  }
  const std::string name = fmt::format("{}", fmt::join(operators, "_"));
  return operators.size() == 1 && !has_word ? "fused_" + name : name;
}

std::string unique_name(const Subject& subject, const std::string& stem, std::set<std::string>& taken) {
  return numbered(stem,
                  [&](const std::string& one) { return taken.insert(one).second && !subject.names.contains(one); });
}

}  // namespace passnet::author
