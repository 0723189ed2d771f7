#include "examples.h"

namespace passnet::cli {

Result<std::vector<author::Example>> load_examples(const std::vector<std::filesystem::path>& paths,
                                                   const std::vector<std::string>& names, TypeInference& inference) {
  std::vector<author::Example> examples;
  for (size_t i = 0; i < paths.size(); ++i) {
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(paths[i]));
    PASSNET_TRY(const InferredTypes types, inference.types_of(graph));
    author::Example example{names[i], graph.graph, {}};
    for (const ir::Value& value : types.values) example.types.push_back(author::value_type(value));
    examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace passnet::cli
