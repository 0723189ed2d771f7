#include "graph_commands/types.h"

#include "command.h"
#include "run/worker/requests.h"

namespace passnet::cli {

TypeInference::TypeInference() : worker_({{}, run::Role::Reference, 1, &interrupted(), {}}) { catch_interrupts(); }

Result<run::InferredTypes> TypeInference::types_of(const graphdir::GraphDir& graph) {
  constexpr const char* kId = "graph";
  constexpr std::chrono::seconds kTimeout(300);
  if (!worker_.alive()) PASSNET_TRY_VOID(worker_.start());
  PASSNET_TRY_VOID(run::load_graph(worker_, kId, graph.graph, {}, {}, kTimeout));
  return run::infer_types(worker_, kId, graph, kTimeout);
}

}  // namespace passnet::cli
