#include "author/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
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
// By how much the best of several sets of passes must be worth more: the best one of equals had luck.
constexpr double kClearlyMore = 1.03;

Result<void> write_list(const fs::path& pass_dir, const std::vector<std::string>& names) {
  return write_file(pass_dir / pass::kListFile, dump(Json(names)) + "\n");
}

/// What an evaluation says of the passes.
struct Finding {
  std::string wrong;                        // why they must not stay; empty: right on every graph
  std::map<std::string, std::string> slow;  // graphs that are no faster beyond the noise, and how fast they are
  std::set<std::string> gained;             // graphs that are
  size_t timed = 0, unranked = 0;           // unranked: of those that were timed
  double ratio = 0;                         // geometric mean of the graphs that were timed
  bool is_gain() const { return wrong.empty() && !gained.empty(); }
};

/// Of a graph that passes applied to and that is right. Where answers that take no work would pass it counts in no score,
/// and is faster all the same.
struct Speed {
  double ratio = 0;  // 0: it was not timed
  record::Interval interval;
  double worth = 1;  // its own score
  bool unranked = false;

  bool is_faster() const { return ratio > 0 && interval.known() && interval.low > 1 && worth > 1; }
};

Speed speed_of(const report::Row& row, const record::RunRecord& one) {
  if (record::left_out(one) == record::LeftOut::NoWork) {
    const double ratio = record::median_ratio(one.reference, one.candidate);
    return {ratio, record::ratio_interval(one.reference, one.candidate), ratio, true};
  }
  return {row.ratio, row.interval, record::score({record::judge(one)}).aggregated_linear, false};
}

const record::RunRecord& record_of(const Records& records, const std::string& graph) {
  return *std::ranges::find(records, graph, &record::RunRecord::graph);
}

bool is_left_alone(const record::RunRecord& one) { return record::is_declined(one) || record::is_unmatched(one); }

Finding find(const Records& records) {
  Finding found;
  double sum = 0;
  for (const report::Row& row : report::rows_of(records)) {
    const record::RunRecord& one = record_of(records, row.graph);
    if (is_left_alone(one)) continue;
    const bool machine_failed = record::left_out(one) == record::LeftOut::MachineFailed;
    if (!machine_failed && !record::judge(one).correct_at(record::kCorrectT)) {
      found.wrong = fmt::format("{} is not right: {}{}", row.graph, row.headline,
                                row.problem.empty() ? "" : fmt::format(" ({})", row.problem));
      return found;
    }
    if (could_not_be_measured(one)) {
      found.slow.emplace(row.graph,
                         "could not be measured: " + (machine_failed ? row.headline : "the machine did other work"));
      continue;
    }
    const Speed speed = speed_of(row, one);
    if (speed.ratio <= 0) continue;
    sum += std::log(speed.ratio);
    ++found.timed;
    if (speed.unranked) ++found.unranked;
    if (speed.is_faster())
      found.gained.insert(row.graph);
    else
      found.slow.emplace(
          row.graph,
          fmt::format("{:.2f}x{}", speed.ratio,
                      speed.worth < 1 && speed.ratio > 1 ? fmt::format(", which scores {:.3f}", speed.worth) : ""));
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
  Judge(const graphdir::Sample& sample, const std::vector<Candidate>& candidates, Evaluations& evaluations,
        const JudgeOptions& options)
      : sample_(sample), candidates_(candidates), evaluations_(evaluations), options_(options) {
    for (const Candidate& one : candidates) {
      judged_.passes.push_back({one.name});
      judged_.passes.back().declined = one.declined;
    }
  }

  Result<Judged> run() {
    PASSNET_TRY_VOID(search());
    PASSNET_TRY_VOID(judged_.ended_by_budget ? keep_proven() : prefer_proven());
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

  bool is_open(const PassVerdict& one) const { return !dropped_.contains(one.pass); }
  std::vector<std::string> open_names() const {
    return names([&](const PassVerdict& one) { return is_open(one); });
  }

  void drop(PassVerdict& verdict, const Finding& found, const graphdir::Sample& looked_at) {
    verdict.why =
        fmt::format("{} ({} of {} graphs)", why_not(found), looked_at.graph_names.size(), sample_.graph_names.size());
    dropped_.insert(verdict.pass);
  }

  /// What gains on none of a few graphs goes, all together or else each alone.
  Result<void> look_first() {
    if (options_.together || options_.first_look.empty() || std::ranges::none_of(candidates_, &Candidate::is_doubtful))
      return {};
    const graphdir::Sample few = graphdir::with_graphs(sample_, options_.first_look);
    PASSNET_TRY(const std::optional<Records> together, evaluate(few, open_names()));
    if (!together || find(*together).is_gain()) return {};
    for (PassVerdict& verdict : judged_.passes) {
      PASSNET_TRY(const std::optional<Records> records, evaluate(few, {verdict.pass}));
      if (!records) return {};
      if (const Finding alone = find(*records); !alone.is_gain()) drop(verdict, alone, few);
    }
    return {};
  }

  /// Alone on the graphs that it may apply to, a few of them first. Returns: what it is worth; not a gain where it was
  /// dropped. nullopt: the budget is used up.
  Result<std::optional<Finding>> try_alone(size_t index) {
    PassVerdict& verdict = judged_.passes[index];
    const std::vector<std::string> graphs = graphs_of(index);
    std::vector<std::string> few = options_.first_look;
    std::erase_if(few, [&](const std::string& graph) { return std::ranges::find(graphs, graph) == graphs.end(); });
    if (!few.empty() && few.size() < graphs.size()) {
      const graphdir::Sample look = graphdir::with_graphs(sample_, few);
      PASSNET_TRY(const std::optional<Records> records, evaluate(look, {verdict.pass}));
      if (!records) return std::optional<Finding>();
      Finding found = find(*records);
      if (!found.is_gain()) {
        drop(verdict, found, look);
        return std::optional(std::move(found));
      }
    }
    return measure(graphdir::with_graphs(sample_, graphs), {verdict.pass});
  }

  /// That it may apply to.
  std::vector<std::string> graphs_of(size_t index) const {
    std::vector<std::string> graphs = candidates_[index].graphs;
    std::erase_if(graphs, [&](const std::string& graph) { return judged_.passes[index].declined.contains(graph); });
    return graphs;
  }

  /// nullopt: the budget is used up.
  Result<std::optional<Records>> evaluate(const graphdir::Sample& sample, const std::vector<std::string>& listed) {
    std::vector<ListedPass> passes;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& one = candidates_[i];
      if (std::ranges::find(listed, one.name) == listed.end()) continue;
      passes.push_back({one.name, one.identity, {}});
      for (const auto& [graph, why] : judged_.passes[i].declined) passes.back().declined.insert(graph);
    }
    PASSNET_TRY_VOID(write_list(sample.pass_dir, listed));
    PASSNET_TRY(std::optional<Records> records, evaluations_.of(sample, passes));
    if (!records) judged_.ended_by_budget = true;
    return records;
  }

  /// All together, then each alone, then those that are left; ends early where the budget does.
  Result<void> search() {
    PASSNET_TRY_VOID(look_first());
    const std::vector<std::string> open = open_names();
    if (judged_.ended_by_budget || open.empty()) return {};
    PASSNET_TRY(const std::optional<Finding> all, measure(sample_, open));
    if (!all) return {};
    const bool all_good = all->is_gain() && all->slow.empty();
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (!is_open(judged_.passes[i])) continue;
      std::optional<Finding> alone = all;
      if (!all_good && open.size() > 1 && !options_.together) {
        PASSNET_TRY(alone, try_alone(i));
      }
      if (!alone) return {};
      if (is_open(judged_.passes[i])) settle(judged_.passes[i], *alone);
    }
    const bool none_alone = std::ranges::none_of(judged_.passes, &PassVerdict::kept);
    if (none_alone && all->is_gain()) {
      // Kernels between PyTorch's operators lose what graphs of kernels alone gain.
      for (PassVerdict& verdict : judged_.passes) {
        if (std::ranges::find(open, verdict.pass) != open.end()) settle(verdict, *all);
      }
    }
    if (!all_good) PASSNET_TRY_VOID(settle_together());
    note_worth();
    return {};
  }

  /// Of what is kept, as it was evaluated last.
  void note_worth() {
    judged_.score = judged_.records.empty() ? 1 : record::abstaining_score(judged_.records);
    judged_.counts = judged_.records.empty() || std::ranges::any_of(judged_.records, record::counts);
  }

  /// nullopt: the budget is used up.
  Result<std::optional<Finding>> measure(const graphdir::Sample& sample, const std::vector<std::string>& listed) {
    PASSNET_TRY(std::optional<Records> records, evaluate(sample, listed));
    if (!records) return std::optional<Finding>();
    judged_.records = std::move(*records);
    Finding found = find(judged_.records);
    if (found.is_gain()) prove(listed, found);
    return std::optional(std::move(found));
  }

  /// What the budget may leave: passes as they were evaluated, on the graphs that they made faster.
  struct Proven {
    std::vector<std::string> passes;
    Finding found;
    std::map<std::string, std::map<std::string, std::string>> declined;  // by pass: what it declined by then
    Records records;                                                     // of the graphs that it made faster
    double score = 1;
  };

  void prove(const std::vector<std::string>& listed, const Finding& found) {
    Proven one{listed, found, {}, {}, 1};
    for (const PassVerdict& verdict : judged_.passes) one.declined[verdict.pass] = verdict.declined;
    const size_t left_alone = sample_.graph_names.size() - found.gained.size();
    std::vector<record::Verdict> verdicts(left_alone, {record::Status::Correct, record::kFirstT, 1});
    for (const record::RunRecord& each : judged_.records) {
      if (!found.gained.contains(each.graph)) continue;
      one.records.push_back(each);
      if (record::counts(each)) verdicts.push_back(record::judge(each));
    }
    one.score = record::score(verdicts).aggregated_linear;
    if (!proven_ || one.score > proven_->score) proven_ = std::move(one);
  }

  /// The most that was proven before the budget ended; nothing else.
  Result<void> keep_proven() {
    PASSNET_TRY_VOID(take_proven("the budget ended before it was proven"));
    judged_.records = proven_ ? std::move(proven_->records) : Records();
    judged_.score = proven_ ? proven_->score : 1;
    return {};
  }

  /// Passes that gain nothing alone may gain together, and what each gains alone may be less than that.
  Result<void> prefer_proven() {
    if (!proven_ || judged_.records.empty() || proven_->score < kClearlyMore * judged_.score) return {};
    if (proven_->passes == names([](const PassVerdict& one) { return one.kept; })) return {};
    PASSNET_TRY_VOID(take_proven("the others are worth more without it"));
    PASSNET_TRY_VOID(settle_together());
    if (judged_.ended_by_budget) return keep_proven();
    note_worth();
    return {};
  }

  /// otherwise: why passes that are not in it go.
  Result<void> take_proven(const std::string& otherwise) {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      PassVerdict& verdict = judged_.passes[i];
      const bool stays = proven_ && std::ranges::find(proven_->passes, verdict.pass) != proven_->passes.end();
      // Those that only declined are left to rewrite(), which knows which graphs need one.
      const size_t graphs = candidates_[i].graphs.size();
      const bool was_kept = stays && (graphs == 0 || proven_->declined[verdict.pass].size() < graphs);
      if (!was_kept) {
        if (verdict.why.empty() || verdict.kept) verdict.why = otherwise;
        verdict.kept = false;
        verdict.declined.clear();
        continue;
      }
      verdict.kept = true;
      verdict.why = gain_text(proven_->found);
      verdict.ratio = proven_->found.ratio;
      verdict.declined = proven_->declined[verdict.pass];
      for (const auto& [graph, why] : proven_->found.slow) {
        if (std::ranges::find(candidates_[i].graphs, graph) != candidates_[i].graphs.end())
          verdict.declined.emplace(graph, why);
      }
      // Later rounds may have left it with other graphs declined.
      PASSNET_TRY_VOID(candidates_[i].rewrite(verdict.declined));
    }
    return proven_ ? rewrite() : Result<void>();
  }

  static void settle(PassVerdict& verdict, const Finding& found) {
    verdict.ratio = found.ratio;
    verdict.kept = found.is_gain();
    verdict.why = verdict.kept ? gain_text(found) : why_not(found);
    verdict.slow = found.slow;
    if (verdict.kept) verdict.declined.insert(found.slow.begin(), found.slow.end());
  }

  void drop_all(const std::string& why) {
    for (PassVerdict& one : judged_.passes) {
      if (one.kept) one.why = "together with the others: " + why;
      one.kept = false;
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
      PASSNET_TRY(const std::optional<Finding> found, measure(sample_, names(is_listed)));
      if (!found) return {};
      if (!found->is_gain()) {
        drop_all(why_not(*found));
        return {};
      }
      if (found->slow.empty() || round + 1 == kRounds) break;
      for (size_t i = 0; i < candidates_.size(); ++i) {
        for (const auto& [graph, why] : found->slow) {
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
  Evaluations& evaluations_;
  const JudgeOptions& options_;
  Judged judged_;
  std::set<std::string> dropped_;  // when a few graphs were looked at
  std::optional<Proven> proven_;
};

}  // namespace

std::vector<GraphGain> gains_of(const Records& records) {
  std::vector<GraphGain> gains;
  for (const report::Row& row : report::rows_of(records)) {
    const record::RunRecord& one = record_of(records, row.graph);
    if (is_left_alone(one)) continue;
    const Speed speed = speed_of(row, one);
    GraphGain gain{row.graph, Gain::NotFaster, speed.ratio, speed.worth};
    if (could_not_be_measured(one))
      gain.gain = Gain::NotMeasured;
    else if (!record::judge(one).correct_at(record::kCorrectT))
      gain.gain = Gain::Wrong;
    else if (speed.is_faster())
      gain.gain = Gain::Faster;
    gains.push_back(std::move(gain));
  }
  return gains;
}

Result<Judged> judge_passes(const graphdir::Sample& sample, const std::vector<Candidate>& candidates,
                            Evaluations& evaluations, const JudgeOptions& options) {
  if (!candidates.empty()) return Judge(sample, candidates, evaluations, options).run();
  PASSNET_TRY_VOID(write_list(sample.pass_dir, {}));
  return Judged{};
}

}  // namespace passnet::author
