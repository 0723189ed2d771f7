#include "author/take/operators.h"

#include <fmt/format.h>

#include <optional>

#include "ir/ops/table.h"

namespace passnet::author {

using ir::NodeId;
using ir::NodeKind;

std::string operator_name(const ir::Graph& graph, NodeId id) {
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  return signature == nullptr ? std::string() : std::string(signature->name);
}

std::vector<std::string> operator_names(const ir::Graph& graph, const Definitions& definitions, const GraphPart& part) {
  std::vector<std::string> names;
  for (const NodeId id : part.nodes) {
    if (computes(definitions, id)) names.push_back(operator_name(graph, id));
  }
  return names;
}

std::string called_name(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  return node.kind == NodeKind::CallMethod ? fmt::format("Tensor.{}", node.target) : std::string(node.target);
}

bool is_product(const ir::Graph& graph, NodeId id) {
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  return signature != nullptr && signature->kernel == ir::KernelClass::Library;
}

bool computes(const Definitions& definitions, NodeId id) {
  const std::optional<TensorId> tensor = definitions.tensor_of(id);
  return tensor && !definitions.tensors()[*tensor].is_view;
}

Result<void> define(Definitions& definitions, const GraphPart& part) {
  for (const NodeId id : part.inputs) PASSNET_TRY_VOID(definitions.input(id));
  for (const NodeId id : part.nodes) PASSNET_TRY_VOID(definitions.node(id));
  return {};
}

}  // namespace passnet::author
