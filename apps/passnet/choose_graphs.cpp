#include "choose_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/file/paths.h"
#include "base/text/strings.h"
#include "graphdir/graph_walk.h"
#include "graphdir/sample.h"

namespace passnet::cli {

namespace {

bool has_passes(const fs::path& directory) { return directory_exists(directory / "pass_dir"); }
bool has_graphs(const fs::path& directory) {
  return path_exists(directory / "graph_list.txt") || directory_exists(directory / "graphs");
}

/// A path of a command: a sample, and the graph of it that was meant; empty: all.
struct Meant {
  graphdir::Sample sample;
  std::string graph = {};
};

/// The sample with passes around a graph directory, where it lists that graph.
Result<std::optional<Meant>> sample_around(const fs::path& graph) {
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  const fs::path full = (here / graph).lexically_normal() / "";
  for (fs::path above = full.parent_path().parent_path(); above.has_relative_path(); above = above.parent_path()) {
    if (!has_passes(above) || !has_graphs(above)) continue;
    // The sample's path is written as the graph's was.
    const fs::path shown = graph.is_absolute() ? above : above.lexically_relative(here);
    PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(shown));
    for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
      if (fs::equivalent(sample.graph_paths[i], graph, failed))
        return std::optional(Meant{sample, sample.graph_names[i]});
    }
    return std::optional<Meant>();
  }
  return std::optional<Meant>();
}

Result<Meant> meant_by(const fs::path& path) {
  if (graphdir::is_graph_dir(path) && !has_passes(path)) {
    PASSNET_TRY(std::optional<Meant> found, sample_around(path));
    if (found) return std::move(*found);
  }
  PASSNET_TRY(graphdir::Sample sample, graphdir::load_sample(path));
  return Meant{std::move(sample)};
}

}  // namespace

Result<ChosenGraphs> choose_graphs(const std::vector<fs::path>& paths, const std::string& filter, const Shard& shard) {
  ChosenGraphs chosen;
  for (const fs::path& path : paths) {
    PASSNET_TRY(const Meant meant, meant_by(path));
    const graphdir::Sample& sample = meant.sample;
    std::vector<std::string> graphs = meant.graph.empty() ? sample.graph_names : std::vector{meant.graph};
    std::erase_if(graphs, [&](const std::string& graph) {
      return (sample.name + "/" + graph).find(filter) == std::string::npos;
    });
    if (graphs.empty()) continue;
    if (!shard.holds(sample.name)) {
      ++chosen.elsewhere;
      continue;
    }
    std::vector<std::string>& only = chosen.only[sample.name];
    only.insert(only.end(), graphs.begin(), graphs.end());
    // Another graph of a sample that is there already.
    if (!meant.graph.empty() && std::ranges::find(chosen.samples, sample.path) != chosen.samples.end()) continue;
    chosen.samples.push_back(sample.path);
  }
  if (!chosen.samples.empty() || chosen.elsewhere > 0) return chosen;
  return bad_input(fmt::format("no graph's SAMPLE/GRAPH holds {}", quoted(filter, 100)))
      .with_hint("--filter takes a part of it, as in 'gelu/b1_float32'");
}

}  // namespace passnet::cli
