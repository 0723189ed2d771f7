#include "agent/run/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/trajectory/trajectory.h"
#include "report/progress.h"

namespace passnet::agent {

namespace {

std::pair<std::string, int> key_of(const AttemptFacts& facts) { return {facts.sample, facts.attempt}; }

}  // namespace

void RunProgress::step(const AttemptFacts& facts, const Step& step) {
  spent_[key_of(facts)] += step.spent;
  for (const Evaluation& one : step.evaluations) {
    if (one.outcome.measured()) best_ = std::max(best_, one.outcome.score);
  }
}

void RunProgress::finish(const AttemptResult& attempt) {
  --running_;
  best_ = std::max(best_, attempt.reward());
  if (attempt.exit_reason == exit_reason::kInterrupted) return;
  spent_.erase(key_of(attempt.facts));
  done_spent_ += attempt.spent;
  ++done_;
  failed_ += attempt.exit_reason == exit_reason::kModel ? 1 : 0;
}

double RunProgress::left_s() const {
  double begun_s = 0;
  for (const auto& [key, spent] : spent_) begun_s += spent.seconds();
  const size_t left = planned_ - done_;
  const double all_s = done_spent_.seconds() / static_cast<double>(done_) * static_cast<double>(left);
  return std::max(0.0, all_s - begun_s) / static_cast<double>(std::clamp<size_t>(left, 1, workers_));
}

std::string RunProgress::text(double elapsed_s) const {
  Ledger spent = done_spent_;
  for (const auto& [key, one] : spent_) spent += one;
  std::string line = fmt::format("{}/{} attempts, {} running, {} failed; best {:.2f}, ${:.2f}, {}", done_, planned_,
                                 running_, failed_, best_, spent.cost, report::duration_text(elapsed_s));
  if (done_ > 0 && done_ < planned_) line += fmt::format(", about {} left", report::duration_text(left_s()));
  return line;
}

}  // namespace passnet::agent
