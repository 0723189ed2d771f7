#include "type_inference.h"

#include "command.h"
#include "run/worker/requests.h"

namespace passnet::cli {

TypeInference::TypeInference() : worker_({{}, run::Role::Reference, 1, &interrupted(), {}}) { catch_interrupts(); }

Result<InferredTypes> TypeInference::types_of(const graphdir::GraphDir& graph) {
  constexpr const char* kId = "graph";
  constexpr std::chrono::seconds kTimeout(300);
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

}  // namespace passnet::cli
