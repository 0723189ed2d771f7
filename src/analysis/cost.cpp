#include "analysis/cost.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/kernel_count.h"
#include "analysis/op_name.h"
#include "ir/dtype.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

namespace {

using Shape = std::vector<double>;

/// Operators of the class Pointwise that compute nothing: their results hold elements of what they take.
constexpr auto kCopies = std::to_array<std::string_view>(
    {"cat",    "clone",   "contiguous",   "embedding", "expand_as", "flip",    "full",   "full_like",
     "gather", "getitem", "index_select", "ones",      "ones_like", "pad",     "repeat", "repeat_interleave",
     "roll",   "stack",   "to",           "tril",      "triu",      "type_as", "zeros",  "zeros_like"});
static_assert(std::ranges::is_sorted(kCopies));

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

// The argument for the n-th parameter, when it is a value.
ir::NodeId operand(const ir::Graph& graph, ir::NodeId id, size_t n) {
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  if (signature == nullptr || n >= signature->parameters.size()) return ir::kNoNode;
  const ir::Arg* arg = ir::find_argument(graph, id, signature->parameters[n].name);
  return arg != nullptr && arg->kind == ir::ArgKind::Node ? arg->node : ir::kNoNode;
}

double attention_flops(const ir::Graph& graph, ir::NodeId id, const ir::Values& types, const Shape& keys) {
  if (keys.size() < 2) return 0;
  const double all = 2 * (elements(types, operand(graph, id, 0)) + elements(types, id)) * keys[keys.size() - 2];
  const ir::Arg* causal = ir::find_argument(graph, id, "is_causal");
  const bool half = causal != nullptr && causal->kind == ir::ArgKind::Bool && causal->boolean;
  return half ? all / 2 : all;
}

// Counts two operands. An equation with `...`, and any other number of operands, count as a loop.
double einsum_flops(const ir::Graph& graph, ir::NodeId id, const ir::Values& types) {
  const auto args = graph.args(id);
  if (args.size() != 3 || args[0].kind != ir::ArgKind::String) return elements(types, id);
  std::string_view equation = args[0].string();
  std::map<char, double> sizes;
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].kind != ir::ArgKind::Node) return elements(types, id);
    std::string indices(equation.substr(0, equation.find_first_of(",-")));
    equation.remove_prefix(std::min(equation.size(), indices.size() + 1));
    std::erase(indices, ' ');
    const Shape of_operand = shape(types, args[i].node);
    if (indices.size() != of_operand.size()) return elements(types, id);
    for (size_t axis = 0; axis < indices.size(); ++axis)
      sizes[indices[axis]] = std::max(sizes[indices[axis]], of_operand[axis]);
  }
  double choices = 2;
  for (const auto& [index, size] : sizes) choices *= size;
  return sizes.contains('.') ? elements(types, id) : choices;
}

double product_flops(const ir::Graph& graph, ir::NodeId id, const ir::Values& types) {
  const double out = elements(types, id);
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  const ir::FlopRule rule = signature == nullptr ? ir::FlopRule::Elements : signature->flops;
  if (rule == ir::FlopRule::Einsum) return einsum_flops(graph, id, types);
  const ir::NodeId first = operand(graph, id, 0), second = operand(graph, id, 1);
  if (rule == ir::FlopRule::Elements || first == ir::kNoNode || second == ir::kNoNode) return out;
  const Shape left = shape(types, first), right = shape(types, second);
  if (left.empty() || right.empty()) return 0;
  const double weights = right[0] == 0 ? 0 : elements(types, second) / right[0];  // of one channel
  switch (rule) {
    case ir::FlopRule::Convolution: return 2 * out * weights;
    case ir::FlopRule::Transposed: return 2 * elements(types, first) * weights;
    case ir::FlopRule::Attention: return attention_flops(graph, id, types, right);
    case ir::FlopRule::Addend: return 2 * out * right.back();
    default: return 2 * out * left.back();
  }
}

double flops_of(const ir::Graph& graph, ir::NodeId id, const ir::Values& types) {
  switch (kernel_class(graph, id)) {
    case KernelClass::Free: return 0;
    case KernelClass::Library: return product_flops(graph, id, types);
    case KernelClass::Reduction: {
      const ir::NodeId input = operand(graph, id, 0);
      return input == ir::kNoNode ? elements(types, id) : elements(types, input);
    }
    default: return std::ranges::binary_search(kCopies, ir::canonical_name(graph.node(id))) ? 0 : elements(types, id);
  }
}

bool is_convolution(const ir::Node& node) {
  const ir::OpSignature* signature = ir::find_signature(node);
  return signature != nullptr &&
         (signature->flops == ir::FlopRule::Convolution || signature->flops == ir::FlopRule::Transposed);
}

}  // namespace

double Cost::flops() const {
  double all = 0;
  for (const Operations& one : operations) all += one.count;
  return all;
}

Cost cost_of(const ir::Graph& graph, const ir::Values& types) {
  Cost cost;
  for (ir::NodeId id = 0; id < graph.placeholder_count(); ++id) cost.bytes_in += bytes(types, id);
  std::map<std::pair<ir::DType, bool>, double> counts;
  for (size_t i = 0; i < body_size(graph); ++i) {
    const ir::NodeId id = body_node(graph, i);
    const ir::TensorType* type = ir::tensor_type(types, id);
    if (const double count = flops_of(graph, id, types); type != nullptr && count > 0)
      counts[{type->dtype, is_convolution(graph.node(id))}] += count;
  }
  for (const auto& [of, count] : counts) cost.operations.push_back({of.first, of.second, count});
  if (const ir::NodeId output = graph.output(); output != ir::kNoNode)
    for_each_input(graph, graph.node(output), [&](ir::NodeId id) { cost.bytes_out += bytes(types, id); });
  return cost;
}

}  // namespace passnet::analysis
