#include "analysis/dtype_variant.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/copy.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

namespace {

bool is_uniform(const ir::Node& node) {
  const ir::OpSignature* signature = ir::find_signature(node);
  return signature != nullptr && signature->uniform;
}

}  // namespace

std::optional<std::vector<graphdir::TensorMeta>> retyped(const std::vector<graphdir::TensorMeta>& metas,
                                                         ir::DType dtype) {
  std::vector<graphdir::TensorMeta> changed = metas;
  bool any = false;
  for (graphdir::TensorMeta& meta : changed) {
    if (meta.dtype != ir::DType::Float32) continue;
    meta.dtype = dtype;
    any = true;
  }
  return any ? std::optional(std::move(changed)) : std::nullopt;
}

ir::Graph with_casts(const ir::Graph& graph, ir::DType dtype, const ir::Values& types) {
  ir::Graph made;
  ir::GraphCopy copying(graph, made);
  bool uniform = false;
  int casts = 0;
  copying.replace = [&](const ir::Arg& arg) -> std::optional<ir::Arg> {
    const ir::TensorType* type = uniform && arg.kind == ir::ArgKind::Node ? ir::tensor_type(types, arg.node) : nullptr;
    if (type == nullptr || type->dtype != ir::DType::Float32) return std::nullopt;
    const ir::Arg call[] = {copying.here(arg.node), ir::Arg::of_dtype(dtype)};
    return copying.add(ir::NodeKind::CallMethod, "to", fmt::format("cast_{}", casts++), call);
  };
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    uniform = is_uniform(graph.node(id));
    copying.copy(id);
  }
  return made;
}

std::vector<bool> variant_casts(const ir::Graph& graph) {
  std::vector<bool> casts(graph.size()), read(graph.size()), read_otherwise(graph.size());
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    if (node.kind == ir::NodeKind::Placeholder) continue;
    const bool uniform = is_uniform(node);
    for_each_input(graph, node, [&](ir::NodeId value) {
      read[value] = true;
      if (!uniform) read_otherwise[value] = true;
    });
    if (node.kind != ir::NodeKind::CallMethod || node.target != "to" || node.arg_count != 2 ||
        !graph.keywords(node).empty())
      continue;
    const ir::Arg& type = graph.args(node)[1];
    casts[id] =
        type.kind == ir::ArgKind::DType && (type.dtype == ir::DType::Float16 || type.dtype == ir::DType::BFloat16);
  }
  for (ir::NodeId id = 0; id < graph.size(); ++id) casts[id] = casts[id] && read[id] && !read_otherwise[id];
  return casts;
}

}  // namespace passnet::analysis
