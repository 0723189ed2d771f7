#include "graphdir/graph_writer.h"

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/hash.h"
#include "fx/print.h"
#include "graphdir/graph_facts.h"

namespace passnet::graphdir {

Result<void> write_graph_dir(const std::filesystem::path& path, const GraphFiles& files) {
  const std::string model = fx::print_model(files.graph);
  const std::string hash =
      files.hash_rule == HashRule::ModelText ? sha256_hex(model) : graph_hash(files.graph, files.hash_rule);
  const std::string weights = print_meta(files.metas), facts = print_indented(files.facts);
  const std::string sources = files.sources.is_null() ? "" : print_indented(files.sources);
  std::vector<NamedContent> contents{{"model.py", model},      {"weight_meta.py", weights},
                                     {"input_meta.py", ""},    {"input_tensor_constraints.py", files.constraints},
                                     {"graph_hash.txt", hash}, {"graph_net.json", facts}};
  if (!files.sources.is_null()) contents.push_back({"subgraph_sources.json", sources});
  return write_directory(path, contents);
}

}  // namespace passnet::graphdir
