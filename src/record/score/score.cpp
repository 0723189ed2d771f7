// The formulas of docs/scoring.md, in its order and with its letters.
#include "record/score/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "record/provenance.h"
#include "record/stats.h"

namespace passnet::record {

namespace {

/// An error class and the tolerance from which it is forgiven.
struct ErrorClass {
  int number = 0;       // 1 … kErrorClasses
  int forgiven_at = 0;  // theta
};

/// What a graph counts for at one rung: correct with a speedup, or wrong with a reason.
struct Outcome {
  bool correct = false;
  double speedup = 0;
  ErrorClass error;
  bool never_forgiven = false;
};

using Weights = std::array<double, 15>;  // t = -10 … 4, not yet normalised
/// GraphNet's own: docs/scoring.md, "The aggregated score".
constexpr Weights kWeights = {0.001, 0.001, 0.001, 0.13, 0.40, 0.48, 0.48, 0.48,
                              0.48,  0.48,  0.48,  0.48, 0.48, 0.48, 0.48};
/// Those of PassBench, the benchmark that publishes an AS per model.
constexpr Weights kPassBenchWeights = {0.001, 0.001, 0.001, 0.001,  0.001,   1,        1,    1,
                                       0.8,   0.64,  0.512, 0.4096, 0.32768, 0.262144, 0.001};

ErrorClass class_of(const Verdict& verdict, Interpretation interpretation) {
  const bool extended = interpretation == Interpretation::MismatchExtended;
  const bool accuracy = verdict.status == Status::Correct && !verdict.correct_at(1);  // classes matter from t = 1 on
  if (accuracy) return {1, 1};
  switch (verdict.status) {
    case Status::CompileFail: return extended ? ErrorClass{4, 4} : ErrorClass{3, 3};
    case Status::ShapeMismatch:
    case Status::TypeMismatch: return extended ? ErrorClass{2, 2} : ErrorClass{2, 3};
    default: return extended ? ErrorClass{3, 3} : ErrorClass{2, 3};
  }
}

Outcome outcome_at(const Verdict& verdict, int t, Interpretation interpretation) {
  Outcome outcome;
  outcome.correct = verdict.correct_at(t) && verdict.speedup > 0 && std::isfinite(verdict.speedup);
  outcome.speedup = outcome.correct ? verdict.speedup : 0;
  outcome.error = class_of(verdict, interpretation);
  outcome.never_forgiven = interpretation == Interpretation::MismatchExtended && verdict.status == Status::EagerFail;
  return outcome;
}

std::vector<Outcome> outcomes_at(const std::vector<Verdict>& verdicts, int t, Interpretation interpretation) {
  std::vector<Outcome> outcomes;
  for (const Verdict& verdict : verdicts) outcomes.push_back(outcome_at(verdict, t, interpretation));
  return outcomes;
}

double rectified(double speedup, double slow_exponent) {
  return speedup < 1 ? std::max(std::pow(speedup, 1 + slow_exponent), std::numeric_limits<double>::min()) : speedup;
}

/// The geometric mean of what the samples count, wrong ones b, or 1 where `forgiving_from` reaches their
/// class.
double sample_level(const std::vector<Outcome>& outcomes, std::optional<int> forgiving_from,
                    const ScoreOptions& options) {
  std::vector<double> counted;
  for (const Outcome& outcome : outcomes) {
    const bool forgiven = forgiving_from && *forgiving_from >= outcome.error.forgiven_at && !outcome.never_forgiven;
    counted.push_back(outcome.correct ? rectified(outcome.speedup, options.slow_exponent)
                      : forgiven      ? 1
                                      : options.penalty_base);
  }
  return geometric_mean(counted);
}

/// Fills alpha … gamma and ES from them.
void fill_macro(ScorePoint& point, const std::vector<Outcome>& outcomes, const ScoreOptions& options) {
  std::vector<double> speedups, slow;
  double wrong = 0, unforgiven = 0;
  std::array<double, kErrorClasses> counts{};
  for (const Outcome& outcome : outcomes) {
    if (outcome.correct) {
      speedups.push_back(outcome.speedup);
      if (outcome.speedup < 1) slow.push_back(outcome.speedup);
    } else {
      wrong += 1;
      counts[static_cast<size_t>(outcome.error.number - 1)] += 1;
      unforgiven += !options.forgiving || point.t < outcome.error.forgiven_at ? 1 : 0;
    }
  }
  const auto correct = static_cast<double>(speedups.size());
  point.alpha = geometric_mean(speedups);
  point.beta = geometric_mean(slow);
  point.correct_share = outcomes.empty() ? 0 : correct / static_cast<double>(outcomes.size());
  point.eta = speedups.empty() ? 0 : static_cast<double>(slow.size()) / correct;
  for (size_t i = 0; i < counts.size(); ++i) point.error_shares[i] = wrong > 0 ? counts[i] / wrong : 0;
  point.gamma = point.t <= 0 ? options.penalty_base
                : wrong > 0  ? std::pow(options.penalty_base, unforgiven / wrong)
                             : 1;
  const double lambda = point.correct_share;
  point.es_macro = outcomes.empty() ? 1
                                    : std::pow(point.alpha, lambda) *
                                          std::pow(point.beta, lambda * point.eta * options.slow_exponent) *
                                          std::pow(point.gamma, 1 - lambda);
}

ScorePoint score_at(const std::vector<Verdict>& verdicts, int t, const ScoreOptions& options) {
  ScorePoint point;
  point.t = t;
  const auto outcomes = outcomes_at(verdicts, t, options.interpretation);
  point.s = sample_level(outcomes, std::nullopt, options);
  const auto frozen = t < 1 ? outcomes : outcomes_at(verdicts, 1, options.interpretation);
  point.es = t < 1 ? point.s : sample_level(frozen, options.forgiving ? std::optional(t) : std::nullopt, options);
  fill_macro(point, frozen, options);
  point.forms_agree = std::abs(point.es - point.es_macro) <= 1e-3 + 1e-3 * std::abs(point.es_macro);
  return point;
}

double aggregate(const Score& score, const Weights& weights) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] * std::log10(score.points[i].es);
    total += weights[i];
  }
  return sum / total;
}

/// The figures people ask for first, over the graphs correct at kCorrectT.
void fill_summary(Score& score, const std::vector<Verdict>& verdicts) {
  std::vector<double> speedups;
  int fast = 0;
  for (const Verdict& verdict : verdicts) {
    if (!verdict.correct_at(kCorrectT)) continue;
    ++score.correct;
    if (verdict.speedup > 0) speedups.push_back(verdict.speedup);
    if (verdict.speedup > 1) ++fast;
  }
  if (!speedups.empty()) score.geomean_speedup = geometric_mean(speedups);
  if (score.total == 0) return;
  score.correct_share = static_cast<double>(score.correct) / score.total;
  score.fast_share = static_cast<double>(fast) / score.total;
}

}  // namespace

LeftOut left_out(const RunRecord& record) {
  if (is_environment_failure(record)) return LeftOut::MachineFailed;
  if (ran_host_code(record)) return LeftOut::HostCode;
  if (is_unmeasured(record)) return LeftOut::Disturbed;
  if (is_unranked(record)) return LeftOut::NoWork;
  if (is_below_floor(record) && judge(record).correct_at(kLastNumericT)) return LeftOut::BelowFloor;
  if (is_uneven(record) && judge(record).correct_at(kLastNumericT)) return LeftOut::Uneven;
  if (record.provenance && record.provenance->isolation_level.value_or(kHighestIsolation) < kRankedIsolation)
    return LeftOut::Unconfined;
  return LeftOut::No;
}

bool counts(const RunRecord& record) { return left_out(record) == LeftOut::No; }

std::vector<Verdict> judge_all(const std::vector<RunRecord>& records) {
  std::vector<Verdict> verdicts;
  for (const RunRecord& record : records) {
    if (counts(record)) verdicts.push_back(judge(record));
  }
  return verdicts;
}

Score score(const std::vector<Verdict>& verdicts, const ScoreOptions& options) {
  Score score;
  score.interpretation = options.interpretation;
  score.total = static_cast<int>(verdicts.size());
  const int last = options.interpretation == Interpretation::Default ? 4 : 5;
  for (int t = kFirstT; t <= last; ++t) {
    score.points.push_back(score_at(verdicts, t, options));
    score.forms_agree = score.forms_agree && score.points.back().forms_agree;
  }
  score.aggregated = aggregate(score, kWeights);
  score.aggregated_linear = std::pow(10.0, score.aggregated);
  score.passbench = std::pow(10.0, aggregate(score, kPassBenchWeights));
  fill_summary(score, verdicts);
  return score;
}

}  // namespace passnet::record
