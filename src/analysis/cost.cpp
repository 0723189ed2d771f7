#include "analysis/cost.h"

#include <algorithm>
#include <vector>

#include "analysis/kernel_count.h"
#include "analysis/op_name.h"
#include "ir/dtype.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

namespace {

using Shape = std::vector<double>;

double elements(const ir::Values& types, ir::NodeId id) {
  const ir::TensorType* type = ir::tensor_type(types, id);
  if (type == nullptr) return 0;
  double product = 1;
  for (const int64_t size : type->shape) product *= static_cast<double>(size);
  return product;
}
double bytes(const ir::Values& types, ir::NodeId id) {
  const ir::TensorType* type = ir::tensor_type(types, id);
  return type == nullptr ? 0 : elements(types, id) * static_cast<double>(ir::size_bytes(type->dtype));
}
Shape shape(const ir::Values& types, ir::NodeId id) {
  const ir::TensorType* type = ir::tensor_type(types, id);
  return type == nullptr ? Shape{} : Shape(type->shape.begin(), type->shape.end());
}

// The n-th positional argument, when it is a value.
ir::NodeId operand(const ir::Graph& graph, ir::NodeId id, size_t n) {
  const auto args = graph.args(id);
  return n < args.size() && args[n].kind == ir::ArgKind::Node ? args[n].node : ir::kNoNode;
}

double product_flops(const ir::Graph& graph, ir::NodeId id, const ir::Values& types) {
  const ir::NodeId first = operand(graph, id, 0), second = operand(graph, id, 1);
  const double out = elements(types, id);
  if (first == ir::kNoNode || second == ir::kNoNode) return 2 * out;
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  const Shape left = shape(types, first), right = shape(types, second);
  switch (signature == nullptr ? ir::FlopRule::Product : signature->flops) {
    case ir::FlopRule::Convolution:
      return right.empty() || right[0] == 0 ? 0 : 2 * out * elements(types, second) / right[0];
    case ir::FlopRule::Attention: return right.size() < 2 ? 0 : 4 * elements(types, first) * right[right.size() - 2];
    case ir::FlopRule::Addend: return right.empty() ? 0 : 2 * out * right.back();
    case ir::FlopRule::Product: break;
  }
  return left.empty() ? 0 : 2 * out * left.back();
}

double flops_of(const ir::Graph& graph, ir::NodeId id, const ir::Values& types) {
  switch (kernel_class(graph, id)) {
    case KernelClass::Free: return 0;
    case KernelClass::Library: return product_flops(graph, id, types);
    case KernelClass::Reduction: {
      const ir::NodeId input = operand(graph, id, 0);
      return input == ir::kNoNode ? elements(types, id) : elements(types, input);
    }
    default: return elements(types, id);
  }
}

}  // namespace

Cost cost_of(const ir::Graph& graph, const ir::Values& types) {
  Cost cost;
  for (ir::NodeId id = 0; id < graph.placeholder_count(); ++id) cost.bytes_in += bytes(types, id);
  for (size_t i = 0; i < body_size(graph); ++i) cost.flops += flops_of(graph, body_node(graph, i), types);
  if (const ir::NodeId output = graph.output(); output != ir::kNoNode)
    for_each_input(graph, graph.node(output), [&](ir::NodeId id) { cost.bytes_out += bytes(types, id); });
  return cost;
}

double roofline_us(const Cost& cost, double gb_per_s, double tflops) {
  return std::max((cost.bytes_in + cost.bytes_out) / (gb_per_s * 1e3), cost.flops / (tflops * 1e6));
}

}  // namespace passnet::analysis
