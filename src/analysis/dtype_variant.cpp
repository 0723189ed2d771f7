#include "analysis/dtype_variant.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/table.h"

namespace passnet::analysis {

namespace {

bool is_uniform(const ir::Node& node) {
  const ir::OpSignature* signature = ir::find_signature(node);
  return signature != nullptr && signature->uniform;
}

/// Copies a graph node by node, with casts of some arguments in between.
class Casting {
 public:
  Casting(const ir::Graph& graph, ir::DType dtype, const ir::Values& types)
      : graph_(graph), dtype_(dtype), types_(types), here_(graph.size()) {}

  ir::Graph run() {
    for (ir::NodeId id = 0; id < graph_.size(); ++id) {
      const ir::Node& node = graph_.node(id);
      if (node.kind == ir::NodeKind::Placeholder) {
        here_[id] = ir::Arg::of_node(made_.import_placeholder(graph_, node));
        continue;
      }
      const bool uniform = is_uniform(node);
      std::vector<ir::Arg> args;
      for (const ir::Arg& arg : graph_.args(node)) args.push_back(argument(arg, uniform));
      std::vector<ir::Keyword> keywords;
      for (const ir::Keyword& keyword : graph_.keywords(node))
        keywords.push_back({made_.intern(keyword.name), argument(keyword.value, uniform)});
      if (node.kind == ir::NodeKind::Output)
        made_.add_output(args.front());
      else
        here_[id] = ir::Arg::of_node(
            made_.add_node(node.kind, made_.intern(node.target), made_.intern(node.name), args, keywords));
    }
    return std::move(made_);
  }

 private:
  ir::Arg argument(const ir::Arg& arg, bool uniform) {
    const ir::Arg copied = made_.import_arg(graph_, arg, here_);
    const ir::TensorType* type = uniform && arg.kind == ir::ArgKind::Node ? ir::tensor_type(types_, arg.node) : nullptr;
    if (type == nullptr || type->dtype != ir::DType::Float32) return copied;
    const ir::Arg call[] = {copied, ir::Arg::of_dtype(dtype_)};
    return ir::Arg::of_node(
        made_.add_node(ir::NodeKind::CallMethod, "to", made_.intern(fmt::format("cast_{}", casts_++)), call));
  }

  const ir::Graph& graph_;
  const ir::DType dtype_;
  const ir::Values& types_;
  ir::Graph made_;
  std::vector<ir::Arg> here_;
  int casts_ = 0;
};

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
  return Casting(graph, dtype, types).run();
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
