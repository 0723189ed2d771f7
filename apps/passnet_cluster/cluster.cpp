// Code that several of the commands share: merging, and texts for the state of a queue.
#include "cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "cluster/merge.h"
#include "command.h"
#include "record/score/score.h"
#include "record/session.h"
#include "record/verdict.h"
#include "report/html/page.h"
#include "run/keep/load_records.h"

namespace passnet::cli {

namespace {

bool is_run(const fs::path& path) { return entry_exists(path / record::kSessionsFile); }

// The parts themselves; of a queue the results.
Result<std::vector<fs::path>> parts_of(const std::vector<std::string>& paths) {
  std::vector<fs::path> parts;
  for (const std::string& path : paths) {
    if (!directory_exists(path))
      return bad_input(fmt::format("'{}' is no directory, expected the --out of a shard, or a queue", path));
    if (!entry_exists(fs::path(path) / cluster::kQueueFile)) {
      parts.emplace_back(path);
      continue;
    }
    PASSNET_TRY(const cluster::Queue queue, cluster::Queue::open(path));
    PASSNET_TRY(const std::vector<fs::path> results, queue.results());
    for (const fs::path& result : results) parts.push_back(result / "out");
  }
  return parts;
}

// Outputs of `leaderboard score` hold a run for each model, by name.
Result<std::map<std::string, std::vector<fs::path>>> runs_by_model(const std::vector<fs::path>& parts) {
  std::map<std::string, std::vector<fs::path>> models;
  for (const fs::path& part : parts) {
    PASSNET_TRY(const std::vector<fs::path> entries, list_directory(part));
    for (const fs::path& entry : entries) {
      if (is_run(entry)) models[entry.filename().string()].push_back(entry);
    }
  }
  return models;
}

/// Records of a page at most: it is made in memory.
constexpr size_t kMostInReport = 2000;

// The page that `passnet eval` writes beside its records.
Result<void> write_report(const fs::path& run, const cluster::Merged& merged) {
  if (merged.records == 0 || merged.records > kMostInReport) return {};
  PASSNET_TRY(const std::vector<record::RunRecord> records, run::load_run(run));
  const record::Score score = record::score(record::judge_all(records));
  return write_file(run / "report.html", report::render_html(records, score, counted(merged.samples, "sample"),
                                                             report::load_sources(run, records)));
}

Result<Json> merge_one(std::vector<fs::path> runs, const fs::path& out, bool latest) {
  PASSNET_TRY(const cluster::Merged merged, cluster::merge_runs({std::move(runs), out, latest}));
  PASSNET_TRY_VOID(write_report(out, merged));
  Json left = Json::object();
  for (const auto& [sample, run] : merged.left) left[sample] = run.string();
  return Json{{"runs", merged.runs},       {"samples", merged.samples}, {"records", merged.records},
              {"missing", merged.missing}, {"left", std::move(left)},   {"out", out.string()}};
}

}  // namespace

Result<Json> merge(const MergeFlags& flags) {
  PASSNET_TRY(std::vector<fs::path> parts, parts_of(flags.runs));
  if (parts.empty()) return bad_input("found no finished item in the queue, expected one or more");
  Json all = Json::array();
  if (std::ranges::any_of(parts, is_run)) {
    PASSNET_TRY(Json one, merge_one(std::move(parts), flags.out, flags.latest));
    all.push_back(std::move(one));
    return all;
  }
  PASSNET_TRY(const auto models, runs_by_model(parts));
  for (const auto& [model, runs] : models) {
    PASSNET_TRY(Json one, merge_one(runs, fs::path(flags.out) / model, flags.latest));
    all.push_back(std::move(one));
  }
  if (!models.empty()) return all;
  const size_t count = parts.size();
  PASSNET_TRY(const std::vector<std::string> left, cluster::merge_trees({std::move(parts), flags.out, flags.latest}));
  all.push_back({{"directories", count}, {"left_out", left}, {"out", flags.out}});
  return all;
}

void say_merged(const Json& merged) {
  for (const Json& one : merged) {
    const std::string out = one.at("out");
    if (one.contains("directories")) {
      say("{} in {}\n", counted(one.at("directories"), "directory"), out);
      for (const Json& file : one.at("left_out")) say("left out, as it differs: {}\n", file.get<std::string>());
      continue;
    }
    say("{} of {} in {}\n", counted(one.at("records"), "record"), counted(one.at("samples"), "sample"), out);
    for (const auto& [sample, run] : one.at("left").items())
      say("older, not taken: {} in {}\n", sample, run.get<std::string>());
    for (const Json& shard : one.at("missing")) say("missing: shard {}\n", shard.get<std::string>());
  }
}

std::string line_of(const cluster::QueueStatus& status) {
  return fmt::format("{} of {} done, {} failed, {} claimed, {} waiting{}", status.done, status.items, status.failed,
                     status.claimed.size(), status.todo, status.draining ? "; draining" : "");
}

}  // namespace passnet::cli
