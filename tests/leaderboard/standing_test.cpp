#include "leaderboard/standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "leaderboard/reasons.h"
#include "tests/record/example_records.h"

namespace passnet::leaderboard {
namespace {

using record::failed_record;
using record::output_of;
using record::record_of;
using record::RunRecord;
using record::Stage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

RunRecord right_at(double speedup) { return record_of("right", speedup, {output_of("float32", -10)}); }
RunRecord no_match() {
  RunRecord record = failed_record("none", Stage::Match, "no-match", "");
  record.passes = {{"fuse", 0, 0, ""}};
  return record;
}
RunRecord aliased(double speedup) {
  RunRecord record = right_at(speedup);
  record.outputs[0].expected_layout = record::Layout{{3, 1}, 0, ""};
  record.outputs[0].found_layout = record::Layout{{3, 1}, 0, "input x"};
  return record;
}

TEST(Standing, ATaskHasAScoreByEachSetOfRules) {
  const Leaderboard board = rank_models({{"m", {{"t", 2, {right_at(2), aliased(8)}, 4.0}}}});
  const TaskStanding& task = board.models.at(0).tasks.at(0);
  // Both are right by upstream's rules, at every t.
  EXPECT_NEAR(*task.scores.upstream, 4, 1e-9);
  EXPECT_LT(*task.scores.ours, 1);
  EXPECT_NEAR(*task.scores.unforgiven, std::sqrt(2 * 0.1), 1e-9);
  EXPECT_LT(*task.scores.unforgiven, *task.scores.ours);
  EXPECT_THAT(task.caught, ElementsAre(Pair("wrong layout", 1)));
  EXPECT_THAT(task.reasons, IsEmpty()) << "upstream's rules give what was published";
}

TEST(Standing, ModelsAreRankedAndComparedWithWhatWasPublished) {
  const auto model = [](const std::string& name, double first, double second, double published) {
    return ModelRecords{name, {{"a", 1, {right_at(first)}, published}, {"b", 1, {right_at(second)}, published}}};
  };
  const Leaderboard board =
      rank_models({model("slow", 0.5, 0.5, 0.3), model("fast", 2, 8, 1.5), model("mid", 1, 1, 0.4)});
  ASSERT_EQ(board.models.size(), 3);
  EXPECT_EQ(board.models[0].model, "fast");
  EXPECT_NEAR(*board.models[0].scores.ours, 4, 1e-9);
  EXPECT_NEAR(*board.models[0].scores.published, 1.5, 1e-9);
  EXPECT_EQ(board.models[2].model, "slow");
  ASSERT_TRUE(board.ours && board.upstream);
  EXPECT_DOUBLE_EQ(board.ours->kendall, 1);
  EXPECT_FALSE(board.models[0].ours) << "both its tasks were published as one figure: there is no order";
}

TEST(Standing, WhatWasNotEvaluatedIsCountedAndNotScored) {
  const RunRecord full = failed_record("full", Stage::Build, "resource", "no space");
  const Leaderboard board = rank_models({{"m", {{"t", 3, {right_at(2), full}, std::nullopt}}}});
  const TaskStanding& task = board.models[0].tasks[0];
  EXPECT_EQ(task.left_out.unevaluated, 2) << "one for the machine, one without a record";
  EXPECT_NEAR(*task.scores.ours, 2, 1e-9);
  EXPECT_NEAR(*task.scores.upstream, 2, 1e-9);
  EXPECT_FALSE(board.models[0].scores.published);
}

TEST(Standing, WhatOurRulesDoNotRankUpstreamsMay) {
  RunRecord unranked = right_at(3);
  unranked.null_models = {"zeros"};
  const Leaderboard board = rank_models({{"m", {{"t", 1, {unranked}, std::nullopt}}}});
  const TaskStanding& task = board.models[0].tasks[0];
  EXPECT_FALSE(task.scores.ours);
  EXPECT_NEAR(*task.scores.upstream, 3, 1e-9);
  EXPECT_EQ(task.left_out.ours, 1);
  EXPECT_THAT(task.caught, ElementsAre(Pair("unranked", 1)));
}

TEST(Standing, ATaskWithoutPublishedScoreCountsTheFloorInThePublishedMean) {
  const Leaderboard board = rank_models({{"m", {{"a", 1, {right_at(2)}, 1.0}, {"b", 1, {right_at(2)}, std::nullopt}}}});
  EXPECT_NEAR(*board.models[0].scores.published, std::sqrt(0.1), 1e-12);
}

TEST(Reasons, AreNoneWhereTheScoresAgree) {
  EXPECT_THAT(reasons_of({right_at(1)}, 1.0, 1.05), IsEmpty());
  EXPECT_THAT(reasons_of({right_at(1)}, 1.0, std::nullopt), IsEmpty());
  EXPECT_THAT(reasons_of({no_match()}, 0.1, 0.0), IsEmpty()) << "both are at the floor";
}

TEST(Reasons, OfALowerScoreAreTheFailures) {
  const RunRecord unreadable = failed_record("a", Stage::Match, "bad-pass", "");
  const RunRecord unbuilt = failed_record("b", Stage::Build, "bad-pass", "");
  EXPECT_THAT(reasons_of({unreadable, unbuilt, unreadable, right_at(1)}, 0.2, 0.9),
              ElementsAre("2 of 4: refused by our reader of passes", "1 of 4: a kernel does not compile or load here"));
  EXPECT_THAT(reasons_of({right_at(0.5)}, 0.5, 0.9), ElementsAre(HasSubstr("another GPU")));
}

TEST(Reasons, OfAHigherScoreLookAtTheFloor) {
  EXPECT_THAT(reasons_of({right_at(1), no_match()}, 0.4, 0.1),
              ElementsAre("matched more: 1 of 2 here, nothing matched or compiled there"));
  EXPECT_THAT(reasons_of({right_at(1)}, 1.0, 0.0), ElementsAre(HasSubstr("the run failed there")));
  EXPECT_THAT(reasons_of({right_at(1)}, 1.0, 0.5), ElementsAre("all right here; another GPU, or failures there"));
}

}  // namespace
}  // namespace passnet::leaderboard
