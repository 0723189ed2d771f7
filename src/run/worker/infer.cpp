#include "run/worker/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/worker/requests.h"

namespace passnet::run {

namespace {

/// A VALUE for people; what a number is does not belong to its type.
std::string describe(const Json& value) {
  if (value.contains("shape"))
    return fmt::format("{}[{}]", value.at("dtype").get<std::string>(),
                       fmt::join(value.at("shape").get<std::vector<int64_t>>(), ", "));
  if (value.contains("list")) {
    std::vector<std::string> elements;
    for (const Json& element : value.at("list")) elements.push_back(describe(element));
    return fmt::format("({})", fmt::join(elements, ", "));
  }
  if (value.contains("unknown")) return "? " + value.at("unknown").get<std::string>();
  return value.empty() ? "?" : value.begin().key();
}

}  // namespace

Result<InferredTypes> infer_types(Worker& worker, const std::string& id, const graphdir::GraphDir& graph,
                                  std::chrono::milliseconds timeout) {
  PASSNET_TRY(const MetaTexts metas, read_metas(graph));
  return infer_types(worker, id, graph.graph, metas, timeout);
}

Result<InferredTypes> infer_types(Worker& worker, const std::string& id, const ir::Graph& graph, const MetaTexts& metas,
                                  std::chrono::milliseconds timeout) {
  const Json request{{"do", "infer"}, {"id", id}, {"weight_meta", metas.weights}, {"input_meta", metas.inputs}};
  PASSNET_TRY(Reply reply, worker.ask(request, {}, timeout));
  return read_fields("infer", [&]() -> Result<InferredTypes> {
    InferredTypes types;
    types.values = std::move(reply.json.at("values"));
    for (const ir::Node& node : graph.nodes()) {
      const bool is_output = node.kind == ir::NodeKind::Output;
      types.texts.push_back(is_output ? "" : describe(types.values.at(std::string(node.name))));
      if (!is_output && types.values.at(std::string(node.name)).contains("unknown")) ++types.unknown;
    }
    return types;
  });
}

}  // namespace passnet::run
