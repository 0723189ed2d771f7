#include "graph_types.h"

#include "command.h"
#include "run/session.h"

namespace passnet::cli {

Result<run::InferredTypes> types_of(const fx::GraphDir& graph) {
  constexpr const char* kId = "graph";
  constexpr std::chrono::seconds kTimeout(300);
  catch_interrupts();
  run::Worker worker({{}, run::Role::Reference, 1, &interrupted(), {}});
  PASSNET_TRY_VOID(worker.start());
  if (auto loaded = run::load_graph(worker, kId, graph.graph, {}, {}, kTimeout); !loaded) return loaded.error().error;
  auto types = run::infer_types(worker, kId, graph, kTimeout);
  if (!types) return types.error().error;
  return std::move(*types);
}

}  // namespace passnet::cli
