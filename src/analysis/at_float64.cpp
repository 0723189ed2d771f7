#include "analysis/at_float64.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/copy.h"

namespace passnet::analysis {

namespace {

ir::DType widened(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::Float16:
    case ir::DType::BFloat16:
    case ir::DType::Float32: return ir::DType::Float64;
    case ir::DType::Complex64: return ir::DType::Complex128;
    default: return dtype;
  }
}

bool is_conversion(std::string_view method) { return method == "half" || method == "bfloat16" || method == "float"; }

bool reads_bits(const ir::Graph& graph, const ir::Node& node) {
  if (node.kind != ir::NodeKind::CallMethod || node.target != "view") return false;
  const auto is_dtype = [](const ir::Arg& arg) { return arg.kind == ir::ArgKind::DType; };
  return std::ranges::any_of(graph.args(node), is_dtype) ||
         std::ranges::any_of(graph.keywords(node), is_dtype, &ir::Keyword::value);
}

}  // namespace

Result<ir::Graph> at_float64(const ir::Graph& graph) {
  ir::Graph made;
  ir::GraphCopy copying(graph, made);
  bool enters_autocast = false;
  copying.replace = [&](const ir::Arg& arg) -> std::optional<ir::Arg> {
    if (enters_autocast && arg.kind == ir::ArgKind::Bool) return ir::Arg::of_bool(false);
    if (enters_autocast || arg.kind != ir::ArgKind::DType) return std::nullopt;
    return ir::Arg::of_dtype(widened(arg.dtype));
  };
  copying.retarget = [](const ir::Node& node) {
    return node.kind == ir::NodeKind::CallMethod && is_conversion(node.target) ? "double" : node.target;
  };
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (reads_bits(graph, node))
      return unsupported(fmt::format("'{}' reads the bits of a tensor as another type", node.name));
    enters_autocast = node.target.ends_with("_enter_autocast");
    copying.copy(id);
  }
  return made;
}

}  // namespace passnet::analysis
