#include "type_inference.h"

#include "command.h"
#include "graphdir/inputs/replay.h"
#include "run/worker/requests.h"

namespace passnet::cli {

namespace {
constexpr const char* kId = "graph";
constexpr std::chrono::seconds kTimeout(300);
}  // namespace

TypeInference::TypeInference() : worker_({{}, run::Role::Reference, 1, &interrupted(), {}}) { catch_interrupts(); }

Result<InferredTypes> TypeInference::types_of(const graphdir::GraphDir& graph) {
  if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
  PASSNET_TRY_VOID(run::load_graph(worker_, kId, graph.graph, {}, {}, kTimeout));
  InferredTypes types;
  PASSNET_TRY(types.values, run::infer_types(worker_, kId, graph, kTimeout));
  for (ir::NodeId id = 0; id < graph.graph.size(); ++id) {
    const bool is_output = graph.graph.node(id).kind == ir::NodeKind::Output;
    types.texts.push_back(is_output ? "" : ir::type_text(types.values[id]));
    types.unknown += types.values[id].unknown() != nullptr;
  }
  return types;
}

Result<ir::Values> TypeInference::measure(const graphdir::GraphDir& graph, const std::vector<std::string>& names) {
  if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
  PASSNET_TRY_VOID(run::load_graph(worker_, kId, graph.graph, {}, {}, kTimeout));
  if (run::replay_inputs(worker_, kId, graph, graphdir::kReplaySeed, kTimeout)) {
    if (Result<ir::Values> values = run::trace_graph(worker_, kId, graph.graph, kTimeout, names)) return values;
  }
  PASSNET_TRY(InferredTypes types, types_of(graph));
  return std::move(types.values);
}

}  // namespace passnet::cli
