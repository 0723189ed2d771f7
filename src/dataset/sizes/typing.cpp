#include "dataset/sizes/typing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "dataset/sizes/limits.h"
#include "fx/print.h"
#include "ir/dtype.h"
#include "run/worker/infer.h"
#include "run/worker/requests.h"

namespace passnet::dataset {

namespace {

Types read_types(const ir::Graph& graph, const Json& values) {
  Types types;
  types.shapes = {std::vector<std::optional<std::vector<int64_t>>>(graph.size()),
                  std::vector<std::string>(graph.size()), std::vector<bool>(graph.size())};
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const auto value = values.find(std::string(graph.node(id).name));
    if (value == values.end()) continue;
    if (const auto unknown = value->find("unknown"); unknown != value->end()) {
      types.shapes.unknown[id] = first_line(unknown->get<std::string>());
    } else if (value->contains("shape")) {
      types.shapes.shape[id] = value->at("shape").get<std::vector<int64_t>>();
      const std::string dtype = value->at("dtype").get<std::string>();
      types.shapes.integral[id] = dtype.starts_with("int") || dtype.starts_with("uint");
      const auto known = ir::parse_dtype(dtype);
      int64_t bytes = known ? ir::size_bytes(*known) : 8;
      for (const int64_t size : *types.shapes.shape[id]) bytes *= size;
      if (graph.node(id).kind != ir::NodeKind::Placeholder) types.largest_bytes = std::max(types.largest_bytes, bytes);
    }
  }
  return types;
}

}  // namespace

Result<void> Typing::infer_captured(const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY_VOID(load(graph_));
  PASSNET_TRY(Types types, infer(graph_, metas));
  captured_ = std::move(types.shapes);
  return {};
}

Result<Types> Typing::at(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY_VOID(load(graph));
  return also_at(graph, metas);
}

Result<Types> Typing::also_at(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY(Types types, infer(graph, metas));
  for (ir::NodeId id = graph_.placeholder_count(); id < graph_.size(); ++id) {
    if (types.shapes.unknown[id].empty())
      types.shapes.unknown[id] = refused_by_run(graph_, id, captured_, types.shapes);
  }
  return types;
}

Result<Types> Typing::infer(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& metas) {
  PASSNET_TRY(const run::InferredTypes inferred,
              run::infer_types(worker_, id_, graph, {graphdir::print_meta(metas), ""}, timeout_));
  return read_types(graph_, inferred.values);
}

Result<void> Typing::load(const ir::Graph& graph) {
  if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
  return run::load_graph(worker_, id_, graph, {}, {}, timeout_);
}

}  // namespace passnet::dataset
