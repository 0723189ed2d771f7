#include "author/reach/reach.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "base/json/json.h"
#include "record/verdict.h"
#include "rewrite/match.h"

namespace passnet::author {

namespace {

/// A pass_dir that holds this pass alone.
Result<void> copy_pass(const pass::Pass& pass, const fs::path& to) {
  for (const fs::path& file : {pass.path, pass.cpu_source, pass.cuda_source}) {
    if (file.empty()) continue;
    const FileKind kind = file == pass.path ? FileKind::Graph : FileKind::Kernel;
    PASSNET_TRY(const SourceFiles::Text text, pass.files.read(file, kind));
    PASSNET_TRY_VOID(write_file(to / file.filename(), std::string_view(*text)));
  }
  return write_file(to / pass::kListFile, dump(Json{pass.name}) + "\n");
}

}  // namespace

Result<std::vector<OtherGraph>> load_others(const std::vector<graphdir::Sample>& samples) {
  std::vector<OtherGraph> others;
  std::set<fs::path> met;
  std::set<std::string> names;
  for (const graphdir::Sample& sample : samples) {
    for (size_t i = 0; i < sample.graph_paths.size(); ++i) {
      std::error_code ignored;
      if (!met.insert(fs::weakly_canonical(sample.graph_paths[i], ignored)).second) continue;
      PASSNET_TRY(graphdir::GraphDir graph, graphdir::load_graph_dir(sample.graph_paths[i]));
      std::string name = sample.name + "/" + sample.graph_names[i];
      // Samples of one name may lie in several places.
      if (!names.insert(name).second) name = sample.graph_paths[i].string();
      others.push_back({std::move(name), sample.graph_paths[i], std::move(graph.graph)});
    }
  }
  return others;
}

Result<Matching> find_matching(const pass::Pass& pass, std::vector<OtherGraph>& others,
                               const std::vector<fs::path>& besides, const std::atomic<bool>* interrupted) {
  std::error_code ignored;
  std::set<fs::path> own;
  for (const fs::path& path : besides) own.insert(fs::weakly_canonical(path, ignored));
  Matching found;
  for (size_t i = 0; i < others.size(); ++i) {
    if (own.contains(fs::weakly_canonical(others[i].path, ignored))) continue;
    ++found.graphs;
    rewrite::PreparedGraph prepared(others[i].graph);
    Budget steps(rewrite::kMatching, {rewrite::kMostMatchTime, interrupted});
    PASSNET_TRY(const rewrite::MatchReport report, rewrite::find_matches(pass.pattern, prepared, steps));
    if (!report.matches.empty()) found.matching.push_back(i);
  }
  return found;
}

std::vector<size_t> drawn_evenly(const std::vector<size_t>& from, size_t most) {
  if (from.size() <= most) return from;
  std::vector<size_t> drawn;
  for (size_t i = 0; i < most; ++i) drawn.push_back(from[(2 * i + 1) * from.size() / (2 * most)]);
  return drawn;
}

Result<Reach> measure_reach(const pass::Pass& pass, const std::vector<OtherGraph>& others, const Matching& matching,
                            size_t most, const Evaluate& evaluate, const IsSpent& is_spent) {
  Reach reach{matching.graphs, matching.matching.size()};
  const std::vector<size_t> drawn = drawn_evenly(matching.matching, most);
  if (drawn.empty() || !evaluate || (is_spent && is_spent())) return reach;
  PASSNET_TRY(const TemporaryDirectory scratch, TemporaryDirectory::make("passnet_reach_"));
  graphdir::Sample sample{scratch.path(), "reach_of_" + pass.name, {}, {}, scratch.path() / "pass_dir"};
  for (const size_t i : drawn) {
    sample.graph_names.push_back(others[i].name);
    sample.graph_paths.push_back(others[i].path);
  }
  PASSNET_TRY_VOID(copy_pass(pass, sample.pass_dir));
  PASSNET_TRY(const std::optional<Records> records, evaluate(sample, is_spent));
  if (!records) return reach;
  reach.evaluated = records->size();
  for (const record::RunRecord& one : *records) reach.declined += record::is_declined(one) ? 1 : 0;
  for (const GraphGain& one : gains_of(*records)) {
    reach.right += one.gain == Gain::Faster || one.gain == Gain::NotFaster ? 1 : 0;
    reach.faster += one.gain == Gain::Faster ? 1 : 0;
  }
  return reach;
}

}  // namespace passnet::author
