#include "dataset/graph_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "dataset/graph_facts.h"
#include "fx/print.h"

namespace passnet::dataset {

namespace fs = std::filesystem;

namespace {

Result<void> write_files(const fs::path& directory, const GraphFiles& files) {
  const std::string model = fx::print_model(files.graph);
  const std::string hash = files.hash_rule == fx::HashRule::ModelText
                               ? sha256_hex(model)
                               : fx::graph_hash(files.graph, files.hash_rule);
  PASSNET_TRY_VOID(write_file(directory / "model.py", model));
  PASSNET_TRY_VOID(write_file(directory / "weight_meta.py", fx::print_meta(files.metas)));
  PASSNET_TRY_VOID(write_file(directory / "input_meta.py", std::string_view()));
  PASSNET_TRY_VOID(write_file(directory / "input_tensor_constraints.py", files.constraints));
  PASSNET_TRY_VOID(write_file(directory / "graph_hash.txt", hash));
  if (!files.sources.is_null())
    PASSNET_TRY_VOID(write_file(directory / "subgraph_sources.json", print_indented(files.sources)));
  return write_file(directory / "graph_net.json", print_indented(files.facts));
}

}  // namespace

Result<void> write_graph_dir(const fs::path& path, const GraphFiles& files) {
  if (entry_exists(path)) return {};
  const fs::path partial = path.parent_path() / fmt::format(".{}.{}", path.filename().string(), ::getpid());
  std::error_code failed;
  fs::remove_all(partial, failed);
  Result<void> written = write_files(partial, files);
  if (written) {
    fs::rename(partial, path, failed);
    // Another run may have been quicker.
    if (failed && !entry_exists(path)) written = io_error("rename", partial.string(), failed.value());
  }
  fs::remove_all(partial, failed);
  return written;
}

}  // namespace passnet::dataset
