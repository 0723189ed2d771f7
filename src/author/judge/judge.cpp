#include "author/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "record/score.h"
#include "record/summary.h"
#include "record/verdict.h"
#include "report/row.h"

namespace passnet::author {

namespace fs = std::filesystem;

namespace {

constexpr const char* kListFile = "sorted_output_pass_rule_names.json";

Result<void> write_list(const fs::path& pass_dir, const std::vector<std::string>& names) {
  return write_file(pass_dir / kListFile, dump(Json(names)) + "\n");
}

/// Why the passes may not stay; empty: they are right on every graph, slower on none and faster on one at least.
struct Finding {
  std::string problem;
  double ratio = 0;
  size_t graphs = 0;
};

Finding find(const Records& records) {
  Finding found;
  double sum = 0;
  bool faster = false;
  for (const report::Row& row : report::rows_of(records)) {
    const record::RunRecord& one = *std::ranges::find(records, row.graph, &record::RunRecord::graph);
    if (record::is_declined(one) || record::is_unmatched(one)) continue;
    const record::LeftOut out = record::left_out(one);
    if (out == record::LeftOut::Disturbed || out == record::LeftOut::MachineFailed) {
      found.problem = fmt::format("{} could not be measured: {}", row.graph, row.headline);
      return found;
    }
    if (!record::judge(one).correct_at(record::kCorrectT)) {
      found.problem = fmt::format("{} is not right: {}{}", row.graph, row.headline,
                                  row.problem.empty() ? "" : fmt::format(" ({})", row.problem));
      return found;
    }
    if (row.ratio <= 0) continue;
    sum += std::log(row.ratio);
    ++found.graphs;
    const bool known = row.interval.known();
    if (known && row.interval.high < 1 && found.problem.empty())
      found.problem = fmt::format("{} is slower: {:.2f}x (95 %: {})", row.graph, row.ratio, report::interval_text(row));
    faster = faster || (known && row.interval.low > 1);
  }
  if (found.graphs > 0) found.ratio = std::exp(sum / static_cast<double>(found.graphs));
  if (found.problem.empty() && !faster)
    found.problem = found.graphs == 0 ? "it applies to no graph"
                                      : fmt::format("no graph is faster beyond the noise: {:.2f}x", found.ratio);
  return found;
}

std::string gain_text(const Finding& found) {
  return fmt::format("{:.2f}x over {} graph{}", found.ratio, found.graphs, found.graphs == 1 ? "" : "s");
}

Result<void> remove_pass(const fs::path& pass_dir, const std::string& name) {
  for (const char* ending : {".py", ".cpp", ".cu"}) {
    std::error_code failed;
    fs::remove(pass_dir / (name + ending), failed);
    if (failed) return io_error("cannot remove", (pass_dir / (name + ending)).string(), failed.value());
  }
  return {};
}

}  // namespace

Result<Judged> judge_passes(const graphdir::Sample& sample, const std::vector<std::string>& names,
                            const Evaluate& evaluate) {
  Judged judged;
  if (names.empty()) {
    PASSNET_TRY_VOID(write_list(sample.pass_dir, {}));
    return judged;
  }
  PASSNET_TRY_VOID(write_list(sample.pass_dir, names));
  PASSNET_TRY(judged.records, evaluate(sample));
  const Finding together = find(judged.records);
  std::vector<std::string> kept = names;
  for (const std::string& name : names)
    judged.passes.push_back({name, together.problem.empty(),
                             together.problem.empty() ? gain_text(together) : together.problem, together.ratio});
  if (!together.problem.empty()) {
    kept.clear();
    judged.records.clear();
    for (size_t i = 0; names.size() > 1 && i < names.size(); ++i) {
      PASSNET_TRY_VOID(write_list(sample.pass_dir, {names[i]}));
      PASSNET_TRY(const Records alone, evaluate(sample));
      const Finding found = find(alone);
      judged.passes[i] = {names[i], found.problem.empty(), found.problem.empty() ? gain_text(found) : found.problem,
                          found.ratio};
      if (found.problem.empty()) kept.push_back(names[i]);
    }
    if (!kept.empty()) {
      PASSNET_TRY_VOID(write_list(sample.pass_dir, kept));
      PASSNET_TRY(judged.records, evaluate(sample));
      if (const Finding left = find(judged.records); !left.problem.empty()) {
        for (PassVerdict& one : judged.passes) {
          if (one.kept) one = {one.pass, false, "together with the others: " + left.problem, one.ratio};
        }
        kept.clear();
        judged.records.clear();
      }
    }
  }
  PASSNET_TRY_VOID(write_list(sample.pass_dir, kept));
  for (const PassVerdict& one : judged.passes) {
    if (!one.kept) PASSNET_TRY_VOID(remove_pass(sample.pass_dir, one.pass));
  }
  return judged;
}

}  // namespace passnet::author
