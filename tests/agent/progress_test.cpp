#include "agent/run/progress.h"

#include <gtest/gtest.h>

#include "agent/trajectory/trajectory.h"

namespace passnet::agent {
namespace {

AttemptFacts facts_of(const char* sample, int attempt) {
  AttemptFacts facts;
  facts.sample = sample;
  facts.attempt = attempt;
  return facts;
}

Step step_of(double llm_s, double cost, double score) {
  Step step;
  step.number = 1;
  step.spent.llm_seconds = llm_s;
  step.spent.cost = cost;
  step.evaluations.push_back({"step_1_1", "", {6, 6, 0, 0, score}});
  return step;
}

AttemptResult ended(const AttemptFacts& facts, const std::string& reason, double llm_s, double cost) {
  AttemptResult one;
  one.facts = facts;
  one.exit_reason = reason;
  one.spent.llm_seconds = llm_s;
  one.spent.cost = cost;
  return one;
}

TEST(RunProgress, TellsWhatIsDoneWhatItCostAndWhatIsLeft) {
  const AttemptFacts first = facts_of("a", 0), second = facts_of("a", 1), third = facts_of("b", 0);
  RunProgress progress(5, 2);
  EXPECT_EQ(progress.text(0), "0/5 attempts, 0 running, 0 failed; best 1.00, $0.00, 0 s");
  progress.begin();
  progress.begin();
  progress.step(first, step_of(10, 0.25, 1.5));
  progress.step(second, step_of(4, 0.05, 0.5));
  EXPECT_EQ(progress.text(11), "0/5 attempts, 2 running, 0 failed; best 1.50, $0.30, 11 s");
  progress.finish(ended(first, exit_reason::kAgent, 10, 0.25));
  // Four of 10 s are left, 4 s of which have been worked off, two at a time.
  EXPECT_EQ(progress.text(12), "1/5 attempts, 1 running, 0 failed; best 1.50, $0.30, 12 s, about 18 s left");
  progress.finish(ended(second, exit_reason::kModel, 30, 0.1));
  progress.begin();
  EXPECT_EQ(progress.failed(), 1u);
  EXPECT_EQ(progress.text(100), "2/5 attempts, 1 running, 1 failed; best 1.50, $0.35, 2 min, about 30 s left");
  progress.finish(ended(third, exit_reason::kInterrupted, 1, 0));
  EXPECT_EQ(progress.text(100).substr(0, 44), "2/5 attempts, 0 running, 1 failed; best 1.50");
}

TEST(RunProgress, OfAScoreThatCouldNotBeMeasuredNothingIsKnown) {
  RunProgress progress(1, 1);
  progress.begin();
  Step step = step_of(1, 0, 3);
  step.evaluations[0].outcome.unmeasured = 1;
  progress.step(facts_of("a", 0), step);
  EXPECT_NE(progress.text(1).find("best 1.00"), std::string::npos);
}

}  // namespace
}  // namespace passnet::agent
