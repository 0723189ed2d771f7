#include "dataset/sizes/typing.h"

#include <algorithm>

#include "base/text/strings.h"
#include "dataset/sizes/limits.h"
#include "fx/print.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace {

Types read_types(const ir::Graph& graph, const ir::Values& values) {
  Types types;
  types.shapes = {std::vector<std::optional<std::vector<int64_t>>>(graph.size()),
                  std::vector<std::string>(graph.size()), std::vector<bool>(graph.size())};
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    if (const ir::Value::Unknown* unknown = values[id].unknown()) {
      types.shapes.unknown[id] = first_line(unknown->why);
    } else if (const ir::TensorType* type = values[id].tensor()) {
      types.shapes.shape[id] = type->shape;
      types.shapes.integral[id] = ir::is_integral(type->dtype);
      if (graph.node(id).kind != ir::NodeKind::Placeholder)
        types.largest_bytes = std::max(types.largest_bytes, type->size_bytes());
    }
  }
  return types;
}

}  // namespace

Result<void> Typing::infer_captured(const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY_VOID(load(graph_));
  PASSNET_TRY(Types types, infer(metas));
  captured_ = std::move(types.shapes);
  return {};
}

Result<Types> Typing::at(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY_VOID(load(graph));
  return also_at(metas);
}

Result<Types> Typing::also_at(const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY(Types types, infer(metas));
  for (ir::NodeId id = graph_.placeholder_count(); id < graph_.size(); ++id) {
    if (types.shapes.unknown[id].empty())
      types.shapes.unknown[id] = refused_by_run(graph_, id, captured_, types.shapes);
  }
  return types;
}

Result<Types> Typing::infer(const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY(const ir::Values values, run::infer_types(worker_, id_, graph_, {metas, {}}, timeout_));
  return read_types(graph_, values);
}

Result<void> Typing::load(const ir::Graph& graph) {
  if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
  PASSNET_TRY_VOID(run::load_graph(worker_, id_, graph, {}, {}, timeout_));
  return {};
}

}  // namespace passnet::dataset
