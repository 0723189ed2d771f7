#include "author/subject/part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ir/ops/table.h"

namespace passnet::author {

using ir::ArgKind;
using ir::DType;
using ir::NodeId;

bool is_in(const GraphPart& part, NodeId id) { return std::ranges::find(part.nodes, id) != part.nodes.end(); }

GraphPart cut(const ir::Graph& graph, std::vector<NodeId> nodes) {
  GraphPart part{std::move(nodes), {}, {}};
  const std::set<NodeId> inside(part.nodes.begin(), part.nodes.end());
  std::set<NodeId> inputs;
  for (const NodeId id : part.nodes) {
    ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (!inside.contains(input)) inputs.insert(input);
    });
  }
  part.inputs.assign(inputs.begin(), inputs.end());
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  for (const NodeId id : part.nodes) {
    if (std::ranges::any_of(users[id], [&](NodeId user) { return !inside.contains(user); })) part.outputs.push_back(id);
  }
  return part;
}

std::vector<std::string> names_of(const ir::Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> all;
  for (const NodeId id : ids) all.emplace_back(graph.node(id).name);
  return all;
}

std::string tuple_of(const std::vector<std::string>& items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

void decline(std::vector<std::string>& lines, const std::string& condition) {
  constexpr std::string_view kDecline = "    return NotImplemented";
  // Lines behind a comment are what it explains.
  const size_t count = lines.size();
  if (count >= 2 && lines[count - 1] == kDecline && (count == 2 || !lines[count - 3].starts_with('#'))) {
    lines[count - 2] = fmt::format("{} or {}:", lines[count - 2].substr(0, lines[count - 2].size() - 1), condition);
    return;
  }
  lines.push_back(fmt::format("if {}:", condition));
  lines.emplace_back(kDecline);
}

namespace {
/// The condition under which PyTorch copies nothing where the part is one copy, `contiguous`; empty: it is none, or its input lies in
/// an order of its own.
std::string copies_nothing(const Subject& subject, const GraphPart& part) {
  const ir::OpSignature* called = ir::find_signature(subject.graph.node(part.nodes[0]));
  if (part.nodes.size() > 1 || called == nullptr || called->name != "contiguous") return {};
  const auto lie_in_order = [&](NodeId id) {
    return std::ranges::all_of(subject.types_of(id), [](const ValueType& type) { return type.tensor.is_contiguous(); });
  };
  const std::string_view input = subject.graph.node(part.inputs[0]).name;
  if (lie_in_order(part.nodes[0])) return fmt::format("{}.is_contiguous()", input);
  if (!lie_in_order(part.inputs[0]) || subject.types_of(part.inputs[0])[0].tensor.shape.size() != 4) return {};
  return fmt::format("{0}.shape[1] == 1 or {0}.shape[2] * {0}.shape[3] == 1", input);
}
}  // namespace

std::vector<std::string> type_checks(const Subject& subject, const GraphPart& part) {
  std::vector<std::string> tensors, dtypes, ranks, layouts;
  std::vector<std::vector<std::string>> seen(subject.types.size());
  for (const NodeId id : part.inputs) {
    const std::string name(subject.graph.node(id).name);
    const std::vector<ValueType> types = subject.types_of(id);
    const bool is_dtype = types[0].kind == ValueType::Kind::Constant && types[0].constant == ArgKind::DType;
    if (types[0].is_tensor() || is_dtype) {
      dtypes.push_back(types[0].is_tensor() ? name + ".dtype" : name);
      for (size_t i = 0; i < types.size(); ++i)
        seen[i].push_back(
            fmt::format("torch.{}", ir::name(types[0].is_tensor() ? types[i].tensor.dtype : types[i].dtype)));
    }
    if (!types[0].is_tensor()) {
      if (types[0].length > 0) ranks.push_back(fmt::format("len({}) != {}", name, types[0].length));
      continue;
    }
    tensors.push_back(name);
    ranks.push_back(fmt::format("{}.ndim != {}", name, types[0].tensor.shape.size()));
    if (std::ranges::all_of(types, [](const ValueType& type) { return type.tensor.is_contiguous(); }))
      layouts.push_back(fmt::format("not {}.is_contiguous()", name));
  }
  std::vector<std::string> combinations;
  for (const auto& combination : seen) {
    const std::string text = dtypes.size() == 1 ? combination[0] : tuple_of(combination);
    if (std::ranges::find(combinations, text) == combinations.end()) combinations.push_back(text);
  }
  std::vector<std::string> lines;
  // A parameter of the pattern matches numbers too.
  if (!tensors.empty())
    decline(lines, tensors.size() == 1
                       ? fmt::format("not isinstance({}, torch.Tensor)", tensors[0])
                       : fmt::format("not all(isinstance(x, torch.Tensor) for x in {})", tuple_of(tensors)));
  if (!dtypes.empty()) {
    const std::string found = dtypes.size() == 1 ? dtypes[0] : tuple_of(dtypes);
    decline(lines, combinations.size() == 1 ? fmt::format("{} != {}", found, combinations[0])
                                            : fmt::format("{} not in {}", found, tuple_of(combinations)));
  }
  for (const std::string& rank : ranks) decline(lines, rank);
  for (const std::string& layout : layouts) decline(lines, layout);
  if (const std::string nothing = copies_nothing(subject, part); !nothing.empty()) decline(lines, nothing);
  return lines;
}

std::string_view kernel_type(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Float16: return "float16";
    case DType::BFloat16: return "bfloat16";
    case DType::Int8: return "int8_t";
    case DType::Int16: return "int16_t";
    case DType::Int32: return "int32_t";
    case DType::Int64: return "int64_t";
    case DType::UInt8: return "uint8_t";
    case DType::Bool: return "bool";
    default: return "";
  }
}

}  // namespace passnet::author
