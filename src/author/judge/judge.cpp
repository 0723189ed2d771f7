#include "author/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "pass/source.h"
#include "record/interval.h"
#include "record/score.h"
#include "record/summary.h"
#include "record/verdict.h"
#include "report/row.h"

namespace passnet::author {

namespace fs = std::filesystem;

namespace {

// Noise may show what is no faster only in a second look; more looks find ever fewer.
constexpr int kRounds = 2;

Result<void> write_list(const fs::path& pass_dir, const std::vector<std::string>& names) {
  return write_file(pass_dir / pass::kListFile, dump(Json(names)) + "\n");
}

/// What an evaluation says of the passes.
struct Finding {
  std::string wrong;                        // why they must not stay; empty: right on every graph
  std::map<std::string, std::string> slow;  // graphs that are no faster beyond the noise, and how fast they are
  size_t faster = 0, timed = 0, unranked = 0;  // unranked: of those that were timed
  double ratio = 0;  // geometric mean of the graphs that were timed
};

Finding find(const Records& records) {
  Finding found;
  double sum = 0;
  for (const report::Row& row : report::rows_of(records)) {
    const record::RunRecord& one = *std::ranges::find(records, row.graph, &record::RunRecord::graph);
    if (record::is_declined(one) || record::is_unmatched(one)) continue;
    const record::LeftOut out = record::left_out(one);
    if (out == record::LeftOut::Disturbed || out == record::LeftOut::MachineFailed) {
      found.wrong = fmt::format("{} could not be measured: {}", row.graph, row.headline);
      return found;
    }
    const record::Verdict verdict = record::judge(one);
    if (!verdict.correct_at(record::kCorrectT)) {
      found.wrong = fmt::format("{} is not right: {}{}", row.graph, row.headline,
                                row.problem.empty() ? "" : fmt::format(" ({})", row.problem));
      return found;
    }
    // Where answers that take no work would pass a graph counts in no score, and is faster all the same.
    const bool unranked = out == record::LeftOut::NoWork;
    const double ratio = unranked ? record::median_ratio(one.reference, one.candidate) : row.ratio;
    const record::Interval interval = unranked ? record::ratio_interval(one.reference, one.candidate) : row.interval;
    if (ratio <= 0) continue;
    sum += std::log(ratio);
    ++found.timed;
    if (unranked) ++found.unranked;
    const double worth = unranked ? ratio : record::score({verdict}).aggregated_linear;
    if (interval.known() && interval.low > 1 && worth > 1)
      ++found.faster;
    else
      found.slow.emplace(
          row.graph, fmt::format("{:.2f}x{}", ratio,
                                 worth < 1 && ratio > 1 ? fmt::format(", which scores {:.3f}", worth) : ""));
  }
  if (found.timed > 0) found.ratio = std::exp(sum / static_cast<double>(found.timed));
  return found;
}

/// Why what is right may not stay.
std::string why_not(const Finding& found) {
  if (!found.wrong.empty()) return found.wrong;
  if (found.timed > 0) return fmt::format("no graph is faster beyond the noise: {:.2f}x", found.ratio);
  return "it applies to no graph";
}

std::string gain_text(const Finding& found) {
  const std::string gain =
      fmt::format("{:.2f}x over {} graph{}", found.ratio, found.timed, found.timed == 1 ? "" : "s");
  if (found.unranked == 0) return gain;
  return gain + fmt::format(", {} of which count in no score: answers that take no work would pass there",
                            found.unranked == found.timed ? std::string("all") : std::to_string(found.unranked));
}

Result<void> remove_pass(const fs::path& pass_dir, const std::string& name) {
  for (const char* ending : {".py", ".cpp", ".cu"}) {
    std::error_code failed;
    fs::remove(pass_dir / (name + ending), failed);
    if (failed) return io_error("cannot remove", (pass_dir / (name + ending)).string(), failed.value());
  }
  return {};
}

class Judge {
 public:
  Judge(const graphdir::Sample& sample, const std::vector<Candidate>& candidates, const Evaluate& evaluate)
      : sample_(sample), candidates_(candidates), evaluate_(evaluate) {
    for (const Candidate& one : candidates) judged_.passes.push_back({one.name});
  }

  Result<Judged> run() {
    PASSNET_TRY(Finding found, measure(names([](const PassVerdict&) { return true; })));
    const bool all_good = found.wrong.empty() && found.slow.empty() && found.faster > 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      Finding alone = found;
      if (!all_good && candidates_.size() > 1) {
        PASSNET_TRY(alone, measure({candidates_[i].name}));
      }
      settle(judged_.passes[i], alone);
    }
    if (!all_good) PASSNET_TRY_VOID(settle_together());
    PASSNET_TRY_VOID(write_list(sample_.pass_dir, names(is_listed)));
    for (const PassVerdict& one : judged_.passes) {
      if (!is_listed(one)) PASSNET_TRY_VOID(remove_pass(sample_.pass_dir, one.pass));
    }
    return std::move(judged_);
  }

 private:
  /// Kept, or left as a pass that declines all it matches, so that these graphs are not without one.
  static bool is_listed(const PassVerdict& one) { return one.kept || !one.declined.empty(); }

  std::vector<std::string> names(const std::function<bool(const PassVerdict&)>& wanted) const {
    std::vector<std::string> all;
    for (const PassVerdict& one : judged_.passes) {
      if (wanted(one)) all.push_back(one.pass);
    }
    return all;
  }

  Result<Finding> measure(const std::vector<std::string>& listed) {
    PASSNET_TRY_VOID(write_list(sample_.pass_dir, listed));
    PASSNET_TRY(judged_.records, evaluate_(sample_));
    return find(judged_.records);
  }

  static void settle(PassVerdict& verdict, const Finding& found) {
    verdict.ratio = found.ratio;
    verdict.kept = found.wrong.empty() && found.faster > 0;
    verdict.why = verdict.kept ? gain_text(found) : why_not(found);
    if (verdict.kept) verdict.declined = found.slow;
  }

  void drop_all(const std::string& why) {
    for (PassVerdict& one : judged_.passes) {
      if (one.kept) one = {one.pass, false, "together with the others: " + why, one.ratio};
      one.declined.clear();
    }
    judged_.records.clear();
  }

  /// Those that stay are judged once more, without what each is not good at.
  Result<void> settle_together() {
    if (names([](const PassVerdict& one) { return one.kept; }).empty()) {
      drop_all({});
      return {};
    }
    for (int round = 0; round < kRounds; ++round) {
      PASSNET_TRY_VOID(rewrite());
      PASSNET_TRY(const Finding found, measure(names(is_listed)));
      if (!found.wrong.empty() || found.faster == 0) {
        drop_all(why_not(found));
        return {};
      }
      if (found.slow.empty() || round + 1 == kRounds) break;
      for (size_t i = 0; i < candidates_.size(); ++i) {
        for (const auto& [graph, why] : found.slow) {
          if (judged_.passes[i].kept && std::ranges::find(candidates_[i].graphs, graph) != candidates_[i].graphs.end())
            judged_.passes[i].declined.emplace(graph, why);
        }
      }
    }
    const double score = record::score(record::judge_all(judged_.records)).aggregated_linear;
    if (score < 1) drop_all(fmt::format("the score is {:.3f}", score));
    return {};
  }

  /// Graphs that no pass is left for get one that declines them: an unmatched graph is a failure.
  Result<void> rewrite() {
    std::set<std::string> covered;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (judged_.passes[i].kept) covered.insert(candidates_[i].graphs.begin(), candidates_[i].graphs.end());
    }
    for (size_t i = 0; i < candidates_.size(); ++i) {
      PassVerdict& verdict = judged_.passes[i];
      for (const std::string& graph : candidates_[i].graphs) {
        if (!verdict.kept && !covered.contains(graph)) verdict.declined.emplace(graph, "left as it is");
      }
      if (!verdict.kept && !verdict.declined.empty()) {
        for (const std::string& graph : candidates_[i].graphs) verdict.declined.emplace(graph, "left as it is");
        covered.insert(candidates_[i].graphs.begin(), candidates_[i].graphs.end());
      }
      if (!verdict.declined.empty()) PASSNET_TRY_VOID(candidates_[i].rewrite(verdict.declined));
    }
    return {};
  }

  const graphdir::Sample& sample_;
  const std::vector<Candidate>& candidates_;
  const Evaluate& evaluate_;
  Judged judged_;
};

}  // namespace

Result<Judged> judge_passes(const graphdir::Sample& sample, const std::vector<Candidate>& candidates,
                            const Evaluate& evaluate) {
  if (!candidates.empty()) return Judge(sample, candidates, evaluate).run();
  PASSNET_TRY_VOID(write_list(sample.pass_dir, {}));
  return Judged{};
}

}  // namespace passnet::author
