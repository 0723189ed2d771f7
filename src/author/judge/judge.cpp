#include "author/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file/file.h"
#include "base/json/json.h"
#include "pass/source.h"
#include "record/score/interval.h"
#include "record/score/score.h"
#include "record/score/summary.h"
#include "record/verdict.h"
#include "report/row.h"

namespace passnet::author {

namespace {

// Noise may show what is no faster only in a second look; more looks find ever fewer. Slower graphs have no limit of rounds.
constexpr int kRounds = 2;
// A graph below it counts as slower, though the noise is as large.
constexpr double kLeastRatio = 0.98;
// Least ratio on the device clock, which has little noise. A pass may save launches and take a little more time on the device.
constexpr double kLeastDeviceRatio = 0.9;
// By how much the best of several sets of passes must be worth more: the best one of equals had luck.
constexpr double kClearlyMore = 1.03;

Result<void> write_list(const fs::path& pass_dir, const std::vector<std::string>& names) {
  return write_file(pass_dir / pass::kListFile, dump(Json(names)) + "\n");
}

/// The result of an evaluation for the passes.
struct Finding {
  std::string wrong;                              // why they must not stay; empty: right on every graph
  std::map<std::string, std::string> slow;        // graphs that are no faster beyond the noise, and how fast they are
  std::set<std::string> slower;                   // graphs of these that are slower
  std::set<std::string> gained;                   // graphs that are faster
  std::map<std::string, std::string> unmeasured;  // graphs of which nothing is known, and why
  std::map<std::string, std::set<std::string>> applied;  // by slow graph: the passes that applied
  size_t timed = 0, unranked = 0;                        // unranked: of those that were timed
  double ratio = 0;                                      // geometric mean of the graphs that were timed
  bool is_gain() const { return wrong.empty() && !gained.empty(); }
  /// Tells whether the passes stay: they gain, or no measurement says that they do not.
  bool may_gain() const { return wrong.empty() && (!gained.empty() || !unmeasured.empty()); }
};

/// The speed of a graph that passes applied to and that is right. Where answers that take no work would pass it counts
/// in no score, and is faster all the same.
struct Speed {
  double ratio = 0;  // 0: it was not timed
  record::Interval interval;
  double worth = 1;  // its own score
  bool unranked = false;
  double on_device = 1;  // the lowest ratio on the device clock

  bool is_slow_on_device() const { return on_device < kLeastDeviceRatio; }
  bool is_faster() const {
    return ratio > 0 && interval.known() && interval.low > 1 && worth > 1 && !is_slow_on_device();
  }
  bool is_slower() const {
    return is_slow_on_device() || ratio < kLeastRatio || (interval.known() && interval.high < 1);
  }
};

Speed speed_of(const report::Row& row, const record::RunRecord& one) {
  double on_device = 1;
  for (const report::Row::OtherRatio& other : row.others) {
    if (other.track.clock == "device" && other.ratio > 0) on_device = std::min(on_device, other.ratio);
  }
  if (record::left_out(one) == record::LeftOut::NoWork) {
    const double ratio = record::median_ratio(one.reference, one.candidate);
    return {ratio, record::ratio_interval(one.reference, one.candidate), ratio, true, on_device};
  }
  return {row.ratio, row.interval, record::score({record::judge(one)}).aggregated_linear, false, on_device};
}

/// "0.71x", "1.20x, which scores 0.980", "1.10x, and 0.85x on the device clock"
std::string text_of(const Speed& speed) {
  std::string text = fmt::format("{:.2f}x", speed.ratio);
  if (speed.worth < 1 && speed.ratio > 1) text += fmt::format(", which scores {:.3f}", speed.worth);
  if (speed.is_slow_on_device()) text += fmt::format(", and {:.2f}x on the device clock", speed.on_device);
  return text;
}

std::set<std::string> applied_to(const record::RunRecord& one) {
  std::set<std::string> applied;
  for (const record::PassOutcome& outcome : one.passes) {
    if (outcome.matches > 0) applied.insert(outcome.pass);
  }
  return applied;
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
    if (record::left_out(one) != record::LeftOut::MachineFailed && !record::judge(one).correct_at(record::kCorrectT)) {
      found.wrong = fmt::format("{} is not right: {}{}", row.graph, row.headline,
                                row.problem.empty() ? "" : fmt::format(" ({})", row.problem));
      return found;
    }
    if (could_not_be_measured(one)) {
      found.unmeasured.emplace(row.graph, why_not_measured(one));
      continue;
    }
    const Speed speed = speed_of(row, one);
    if (speed.ratio <= 0) continue;
    sum += std::log(speed.ratio);
    ++found.timed;
    if (speed.unranked) ++found.unranked;
    if (speed.is_faster()) {
      found.gained.insert(row.graph);
      continue;
    }
    found.slow.emplace(row.graph, text_of(speed));
    found.applied.emplace(row.graph, applied_to(one));
    if (speed.is_slower()) found.slower.insert(row.graph);
  }
  if (found.timed > 0) found.ratio = std::exp(sum / static_cast<double>(found.timed));
  return found;
}

/// Why what is right may not stay, or stays without a gain.
std::string why_not(const Finding& found) {
  if (!found.wrong.empty()) return found.wrong;
  if (found.may_gain()) return "undecided: no graph could be measured";
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
    if (failed) return io_error("remove", (pass_dir / (name + ending)).string(), failed.value());
  }
  return {};
}

class Judge {
 public:
  Judge(const graphdir::Sample& sample, const std::vector<Candidate>& candidates, Evaluations& evaluations,
        const JudgeOptions& options)
      : sample_(sample), candidates_(candidates), evaluations_(evaluations), options_(options) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      judged_.passes.push_back({candidates[i].name});
      for (const auto& [graph, why] : candidates[i].declined) decline(i, graph, why);
    }
  }

  Result<Judged> run() {
    PASSNET_TRY_VOID(search());
    PASSNET_TRY_VOID(judged_.ended_by_budget ? keep_proven() : prefer_proven());
    for (const record::RunRecord& one : judged_.records) {
      if (could_not_be_measured(one)) judged_.unmeasured.emplace(one.graph, why_not_measured(one));
    }
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

  /// Lets a pass leave a graph alone, and with it those that its plan cannot tell from it. Returns: whether it may apply to
  /// fewer graphs than before.
  bool decline(size_t index, const std::string& graph, const std::string& why) {
    const Candidate& candidate = candidates_[index];
    std::map<std::string, std::string>& declined = judged_.passes[index].declined;
    const auto place = std::ranges::find(candidate.graphs, graph);
    if (place == candidate.graphs.end() || !declined.emplace(graph, why).second) return false;
    if (candidate.conditions.empty()) return true;
    const std::string& condition = candidate.conditions[static_cast<size_t>(place - candidate.graphs.begin())];
    for (size_t i = 0; i < candidate.graphs.size(); ++i) {
      if (candidate.conditions[i] == condition) declined.emplace(candidate.graphs[i], "like " + graph);
    }
    return true;
  }

  bool declines_all(size_t index) const {
    const size_t graphs = candidates_[index].graphs.size();
    return graphs > 0 && judged_.passes[index].declined.size() >= graphs;
  }

  /// Lets every kept pass leave a graph alone. Returns: whether one may apply to fewer graphs than before.
  bool decline_in_kept(const std::string& graph, const std::string& why) {
    bool changed = false;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (judged_.passes[i].kept && decline(i, graph, why)) changed = true;
    }
    return changed;
  }

  /// Lets every kept pass leave a graph alone; one that applied and cannot decline it is not kept. Returns: whether the list
  /// does something else than before.
  bool leave_alone(const std::string& graph, const std::string& why, const std::set<std::string>& applied) {
    if (decline_in_kept(graph, why)) return true;
    bool changed = false;
    for (PassVerdict& one : judged_.passes) {
      if (!one.kept || !applied.contains(one.pass)) continue;
      one.kept = false;
      one.declined.clear();
      one.why = fmt::format("{} is slower and cannot be declined: {}", graph, why);
      changed = true;
    }
    return changed;
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

  /// Drops passes that gain on none of a few graphs, all together or else each alone.
  Result<void> look_first() {
    if (options_.together || options_.first_look.empty() || std::ranges::none_of(candidates_, &Candidate::is_doubtful))
      return {};
    const graphdir::Sample few = graphdir::with_graphs(sample_, options_.first_look);
    PASSNET_TRY(const std::optional<Records> together, evaluate(few, open_names()));
    if (!together || find(*together).may_gain()) return {};
    for (PassVerdict& verdict : judged_.passes) {
      PASSNET_TRY(const std::optional<Records> records, evaluate(few, {verdict.pass}));
      if (!records) return {};
      if (const Finding alone = find(*records); !alone.may_gain()) drop(verdict, alone, few);
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
      if (!found.may_gain()) {
        drop(verdict, found, look);
        return std::optional(std::move(found));
      }
    }
    return measure(graphdir::with_graphs(sample_, graphs), {verdict.pass});
  }

  /// Returns the graphs that the pass may apply to.
  std::vector<std::string> graphs_of(size_t index) const {
    std::vector<std::string> graphs = candidates_[index].graphs;
    std::erase_if(graphs, [&](const std::string& graph) { return judged_.passes[index].declined.contains(graph); });
    return graphs;
  }

  /// nullopt: the budget is used up.
  Result<std::optional<Records>> evaluate(const graphdir::Sample& sample, const std::vector<std::string>& listed,
                                          Begun begun = Begun::InBudget) {
    std::vector<ListedPass> passes;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& one = candidates_[i];
      if (std::ranges::find(listed, one.name) == listed.end()) continue;
      passes.push_back({one.name, one.identity, {}});
      for (const auto& [graph, why] : judged_.passes[i].declined) passes.back().declined.insert(graph);
      // A plan that declines all its graphs declines any other, too.
      if (declines_all(i)) passes.back().declined.insert(sample_.graph_names.begin(), sample_.graph_names.end());
    }
    PASSNET_TRY_VOID(write_list(sample.pass_dir, listed));
    PASSNET_TRY(std::optional<Records> records, evaluations_.of(sample, passes, begun));
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
      if (is_open(judged_.passes[i])) settle(i, *alone);
    }
    const bool none_alone = std::ranges::none_of(judged_.passes, &PassVerdict::kept);
    if (none_alone && all->may_gain()) {
      // Kernels between PyTorch's operators lose what graphs of kernels alone gain.
      for (size_t i = 0; i < candidates_.size(); ++i) {
        if (std::ranges::find(open, candidates_[i].name) != open.end()) settle(i, *all);
      }
    }
    if (!all_good) PASSNET_TRY_VOID(settle_together());
    note_worth();
    return {};
  }

  /// Notes the worth of the passes that are kept, by their last evaluation.
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

  /// The passes that the budget may leave: as they were evaluated, on the graphs that they made faster.
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
    std::ranges::copy_if(judged_.records, std::back_inserter(one.records),
                         [&](const record::RunRecord& each) { return found.gained.contains(each.graph); });
    one.score = score_of(one.records);
    if (!proven_ || one.score > proven_->score) proven_ = std::move(one);
  }

  /// Score of the sample with a gain on these graphs alone.
  double score_of(const Records& gained) const {
    std::vector<record::Verdict> verdicts(sample_.graph_names.size() - gained.size(),
                                          {record::Status::Correct, record::kFirstT, 1});
    for (const record::RunRecord& one : gained) {
      if (record::counts(one)) verdicts.push_back(record::judge(one));
    }
    return record::score(verdicts).aggregated_linear;
  }

  /// The most that was proven before the budget ended; nothing else. Graphs that it declines, and those that are declined with
  /// them, are evaluated all the same: another pass of the list may take them. What is slower then is declined too.
  Result<void> keep_proven() {
    PASSNET_TRY_VOID(take_proven("the budget ended before it was proven"));
    judged_.records.clear();
    judged_.score = 1;
    if (!proven_) return {};
    judged_.records = std::move(proven_->records);
    for (int round = 0;; ++round) {
      std::erase_if(judged_.records, [&](const record::RunRecord& one) { return is_outdated(one); });
      const std::vector<std::string> open = without_record();
      if (open.empty()) break;
      PASSNET_TRY(const std::optional<Records> records,
                  evaluate(graphdir::with_graphs(sample_, open), names(is_listed), Begun::Always));
      const Finding found = find(*records);
      bool declined = false;
      for (const auto& [graph, why] : found.slow) declined = decline_in_kept(graph, why) || declined;
      if (!found.wrong.empty() || (!found.slow.empty() && (!declined || round + 1 >= kRounds))) {
        drop_all("the budget ended before slower graphs were declined");
        return {};
      }
      if (declined) {
        PASSNET_TRY_VOID(rewrite());
        continue;
      }
      std::ranges::copy_if(*records, std::back_inserter(judged_.records),
                           [&](const record::RunRecord& one) { return found.gained.contains(one.graph); });
      judged_.unmeasured = found.unmeasured;
      break;
    }
    judged_.score = score_of(judged_.records);
    return {};
  }

  /// Returns the graphs of the sample that judged_.records has none of.
  std::vector<std::string> without_record() const {
    std::vector<std::string> open;
    std::ranges::copy_if(sample_.graph_names, std::back_inserter(open), [&](const std::string& graph) {
      return std::ranges::find(judged_.records, graph, &record::RunRecord::graph) == judged_.records.end();
    });
    return open;
  }

  /// Tells whether a pass declines the graph of a record that did not when the list was proven.
  bool is_outdated(const record::RunRecord& record) const {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const PassVerdict& one = judged_.passes[i];
      if (one.declined.contains(record.graph) && !proven_->declined.at(one.pass).contains(record.graph)) return true;
      // A plan that declines all its graphs declines any other, too.
      if (declines_all(i) && applied_to(record).contains(one.pass)) return true;
    }
    return false;
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
      if (stays) verdict.declined = proven_->declined[verdict.pass];
      if (!stays || declines_all(i)) {
        if (verdict.why.empty() || verdict.kept) verdict.why = otherwise;
        verdict.kept = false;
        verdict.declined.clear();
        continue;
      }
      verdict.kept = true;
      verdict.why = gain_text(proven_->found);
      verdict.ratio = proven_->found.ratio;
      for (const auto& [graph, why] : proven_->found.slow) decline(i, graph, why);
      // Later rounds may have left it with other graphs declined.
      PASSNET_TRY_VOID(candidates_[i].rewrite(verdict.declined));
    }
    return proven_ ? rewrite() : Result<void>();
  }

  void settle(size_t index, const Finding& found) {
    PassVerdict& verdict = judged_.passes[index];
    verdict.ratio = found.ratio;
    verdict.kept = found.may_gain();
    verdict.why = found.is_gain() ? gain_text(found) : why_not(found);
    verdict.slow = found.slow;
    if (!verdict.kept) return;
    for (const auto& [graph, why] : found.slow) decline(index, graph, why);
  }

  void drop_all(const std::string& why) {
    for (PassVerdict& one : judged_.passes) {
      if (one.kept) one.why = "together with the others: " + why;
      one.kept = false;
      one.declined.clear();
    }
    judged_.records.clear();
  }

  /// Those that stay are judged as they stand together, without what each is not good at, until no graph is slower.
  Result<void> settle_together() {
    for (int round = 0;; ++round) {
      if (std::ranges::none_of(judged_.passes, &PassVerdict::kept)) {
        drop_all({});
        return {};
      }
      PASSNET_TRY_VOID(rewrite());
      PASSNET_TRY(const std::optional<Finding> found, measure(sample_, names(is_listed)));
      if (!found) return {};
      if (!found->may_gain()) {
        drop_all(why_not(*found));
        return {};
      }
      bool changed = false;
      for (const auto& [graph, why] : found->slow) {
        const bool is_slower = found->slower.contains(graph);
        if (round + 1 >= kRounds && !is_slower) continue;
        if (leave_alone(graph, why, found->applied.at(graph))) changed = true;
      }
      if (!changed) break;
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
