#include "analysis/at_float64.h"

#include <fmt/format.h>

#include <algorithm>

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
  std::vector<ir::Arg> here(graph.size());
  const auto copied = [&](const ir::Arg& arg) {
    ir::Arg copy = made.import_arg(graph, arg, here);
    if (copy.kind == ir::ArgKind::DType) copy.dtype = widened(copy.dtype);
    return copy;
  };
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (reads_bits(graph, node))
      return unsupported(fmt::format("'{}' reads the bits of a tensor as another type", node.name));
    if (node.kind == ir::NodeKind::Placeholder) {
      here[id] = ir::Arg::of_node(made.import_placeholder(graph, node));
      continue;
    }
    const bool enters_autocast = node.target.ends_with("_enter_autocast");
    std::vector<ir::Arg> args;
    for (const ir::Arg& arg : graph.args(node)) {
      args.push_back(enters_autocast ? made.import_arg(graph, arg, here) : copied(arg));
      if (enters_autocast && arg.kind == ir::ArgKind::Bool && args.size() == 3) args.back() = ir::Arg::of_bool(false);
    }
    std::vector<ir::Keyword> keywords;
    for (const ir::Keyword& keyword : graph.keywords(node))
      keywords.push_back({made.intern(keyword.name), enters_autocast && keyword.name == "enabled"
                                                         ? ir::Arg::of_bool(false)
                                                         : copied(keyword.value)});
    if (node.kind == ir::NodeKind::Output) {
      made.add_output(args.front());
      continue;
    }
    const bool converts = node.kind == ir::NodeKind::CallMethod && is_conversion(node.target);
    here[id] = ir::Arg::of_node(made.add_node(node.kind, made.intern(converts ? "double" : node.target),
                                              made.intern(node.name), args, keywords));
  }
  return made;
}

}  // namespace passnet::analysis
