#include "analysis/cost.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "analysis/kernel_count.h"
#include "analysis/op_name.h"
#include "ir/dtype.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

namespace {

using Shape = std::vector<double>;

/// Types as they are needed here: the shape and bytes of a node's tensor.
class Types {
 public:
  Types(const ir::Graph& graph, const Json& types) : graph_(graph), types_(types) {}

  Shape shape(ir::NodeId id) const {
    const auto value = types_.find(std::string(graph_.node(id).name));
    return value != types_.end() && value->contains("shape") ? value->at("shape").get<Shape>() : Shape{};
  }
  double elements(ir::NodeId id) const {
    const auto value = types_.find(std::string(graph_.node(id).name));
    if (value == types_.end() || !value->contains("shape")) return 0;
    double product = 1;
    for (const double size : shape(id)) product *= size;
    return product;
  }
  double bytes(ir::NodeId id) const {
    const auto value = types_.find(std::string(graph_.node(id).name));
    if (value == types_.end() || !value->contains("dtype")) return 0;
    const auto dtype = ir::parse_dtype(value->at("dtype").get<std::string>());
    return dtype ? elements(id) * static_cast<double>(ir::size_bytes(*dtype)) : 0;
  }

 private:
  const ir::Graph& graph_;
  const Json& types_;
};

// The n-th positional argument, when it is a value.
ir::NodeId operand(const ir::Graph& graph, ir::NodeId id, size_t n) {
  const auto args = graph.args(id);
  return n < args.size() && args[n].kind == ir::ArgKind::Node ? args[n].node : ir::kNoNode;
}

double product_flops(const ir::Graph& graph, ir::NodeId id, const Types& types) {
  const ir::NodeId first = operand(graph, id, 0), second = operand(graph, id, 1);
  const double out = types.elements(id);
  if (first == ir::kNoNode || second == ir::kNoNode) return 2 * out;
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  const Shape left = types.shape(first), right = types.shape(second);
  switch (signature == nullptr ? ir::FlopRule::Product : signature->flops) {
    case ir::FlopRule::Convolution:
      return right.empty() || right[0] == 0 ? 0 : 2 * out * types.elements(second) / right[0];
    case ir::FlopRule::Attention: return right.size() < 2 ? 0 : 4 * types.elements(first) * right[right.size() - 2];
    case ir::FlopRule::Addend: return right.empty() ? 0 : 2 * out * right.back();
    case ir::FlopRule::Product: break;
  }
  return left.empty() ? 0 : 2 * out * left.back();
}

double flops_of(const ir::Graph& graph, ir::NodeId id, const Types& types) {
  switch (kernel_class(graph, id)) {
    case KernelClass::Free: return 0;
    case KernelClass::Library: return product_flops(graph, id, types);
    case KernelClass::Reduction: {
      const ir::NodeId input = operand(graph, id, 0);
      return input == ir::kNoNode ? types.elements(id) : types.elements(input);
    }
    default: return types.elements(id);
  }
}

}  // namespace

Cost cost_of(const ir::Graph& graph, const Json& values) {
  const Types types(graph, values);
  Cost cost;
  for (ir::NodeId id = 0; id < graph.placeholder_count(); ++id) cost.bytes_in += types.bytes(id);
  for (size_t i = 0; i < body_size(graph); ++i) cost.flops += flops_of(graph, body_node(graph, i), types);
  if (const ir::NodeId output = graph.output(); output != ir::kNoNode)
    for_each_input(graph, graph.node(output), [&](ir::NodeId id) { cost.bytes_out += types.bytes(id); });
  return cost;
}

double roofline_us(const Cost& cost, double gb_per_s, double tflops) {
  return std::max((cost.bytes_in + cost.bytes_out) / (gb_per_s * 1e3), cost.flops / (tflops * 1e6));
}

}  // namespace passnet::analysis
