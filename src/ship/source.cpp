#include "ship/source.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

#include "base/file/paths.h"
#include "base/text/strings.h"
#include "graphdir/sample.h"
#include "run/keep/load_records.h"

namespace passnet::ship {

namespace {

/// The one graph of a sample, or the one that --graph names.
Result<Source> graph_of(const fs::path& path, const std::string& wanted) {
  PASSNET_TRY(const graphdir::Sample sample, graphdir::load_sample(path));
  std::vector<std::string_view> names(sample.graph_names.begin(), sample.graph_names.end());
  if (wanted.empty() && names.size() != 1) {
    return bad_input(fmt::format("'{}' has {} graphs, expected one", path.string(), names.size()))
        .with_hint(fmt::format("choose one with --graph: {}", join(sample.graph_names, ", ")));
  }
  const std::string& name = wanted.empty() ? sample.graph_names.front() : wanted;
  for (size_t i = 0; i < sample.graph_names.size(); ++i) {
    if (sample.graph_names[i] == name || fs::path(sample.graph_names[i]).filename() == name)
      return Source{sample.graph_paths[i], sample.name + "/" + sample.graph_names[i], sample.pass_dir, {}};
  }
  Error error = bad_input(fmt::format("'{}' has no graph {}", path.string(), quoted(name)));
  if (const auto near = nearest_name(name, names); !near.empty()) error.hint = fmt::format("did you mean '{}'?", near);
  return error;
}

/// The graph that a run judged, with the passes of the run or of its sample.
Result<Source> judged_graph(const fs::path& run, const std::string& wanted) {
  PASSNET_TRY(const std::vector<record::RunRecord> records, run::load_run(run));
  std::set<std::string> names;
  for (const record::RunRecord& one : records) names.insert(one.graph);
  if (wanted.empty() && names.size() != 1) {
    return bad_input(fmt::format("'{}' has records of {} graphs, expected one", run.string(), names.size()))
        .with_hint("choose one with --graph NAME");
  }
  const auto& provenance = records.front().provenance;
  const std::string sample = provenance ? provenance->sample_path : "";
  if (sample.empty() || !directory_exists(sample)) {
    return bad_input(fmt::format("'{}' was made from the sample '{}', which is not there", run.string(), sample))
        .with_hint("give the graph, and the passes with --passes");
  }
  PASSNET_TRY(Source source, graph_of(sample, wanted.empty() ? *names.begin() : wanted));
  if (directory_exists(run / "pass_dir")) source.passes = run / "pass_dir";
  source.records = run / "records.jsonl";
  return source;
}

}  // namespace

Result<Source> find_source(const fs::path& path, const std::string& graph, const fs::path& passes) {
  Source source;
  if (path_exists(path / "model.py")) {
    const fs::path directory = absolute_path(path);
    source = {directory, directory.filename().string(), {}, {}};
    // The passes of the sample that holds it.
    for (fs::path above = directory.parent_path(); above.has_relative_path(); above = above.parent_path()) {
      if (!directory_exists(above / "graphs") || !directory_exists(above / "pass_dir")) continue;
      source.passes = above / "pass_dir";
      break;
    }
  } else if (path_exists(path / "records.jsonl")) {
    PASSNET_TRY(source, judged_graph(path, graph));
  } else {
    PASSNET_TRY(source, graph_of(path, graph));
  }
  if (!passes.empty()) source.passes = passes;
  for (const fs::path& beside : {source.passes / "records.jsonl", source.passes.parent_path() / "records.jsonl"}) {
    if (source.records.empty() && !source.passes.empty() && path_exists(beside)) source.records = beside;
  }
  return source;
}

}  // namespace passnet::ship
