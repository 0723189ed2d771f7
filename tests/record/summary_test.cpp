#include "record/score/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "example_records.h"

namespace passnet::record {
namespace {

RunRecord right_graph(double speedup) { return record_of("right", speedup, {output_of("float32", -6)}); }
RunRecord wrong_graph() { return record_of("wrong", 9, {output_of("float32", 6)}); }
RunRecord unmatched_graph() {
  RunRecord record = failed_record("unmatched", Stage::Match, "no-match", "no pass matched this graph");
  record.passes = {{"fuse", 0, 0, "nearest miss"}};
  return record;
}
RunRecord declined_graph() {
  RunRecord record = failed_record("declined", Stage::Done, "", "");
  record.passes = {{"fuse", 0, 2, ""}};
  return record;
}

TEST(Summary, CountsWhatWasAppliedAndWhatWasLeftAlone) {
  const Summary summary = summary_of(
      std::vector<RunRecord>{right_graph(4), right_graph(0.25), wrong_graph(), unmatched_graph(), declined_graph()});
  EXPECT_EQ(summary.total, 5);
  EXPECT_EQ(summary.correct, 3);
  EXPECT_EQ(summary.fast, 1);
  ASSERT_TRUE(summary.reach);
  EXPECT_EQ(summary.reach->applied, 3);
  EXPECT_EQ(summary.reach->declined, 1);
  EXPECT_EQ(summary.reach->unmatched, 1);
  // The declined one is right and no win of a pass: it is in no mean.
  ASSERT_TRUE(summary.reach->speedup_applied);
  EXPECT_NEAR(*summary.reach->speedup_applied, 1, 1e-12);
}

TEST(Summary, ARightGraphWithoutTimesCountsAsEager) {
  RunRecord untimed = right_graph(4), wrong = wrong_graph();
  untimed.reference = untimed.candidate = wrong.reference = wrong.candidate = {};
  EXPECT_DOUBLE_EQ(abstaining_score({untimed}), abstaining_score({right_graph(1)}));
  // As the time of what is wrong everywhere: in no score.
  EXPECT_DOUBLE_EQ(abstaining_score({right_graph(4), wrong}), abstaining_score({right_graph(4), wrong_graph()}));
}

TEST(Summary, GraphsWithLibraryCallsAreCountedApart) {
  RunRecord fused = right_graph(2), replay = right_graph(1), wrong = wrong_graph();
  fused.passes[0].library_calls = {{"torch.conv2d", 12, 1}};
  replay.passes[0].library_calls = wrong.passes[0].library_calls = {{"torch.conv2d", 12, 1}, {"+", 13, 1}};
  replay.passes[0].replays = wrong.passes[0].replays = 1;
  const Summary summary = summary_of(std::vector<RunRecord>{right_graph(4), fused, replay, wrong});
  ASSERT_TRUE(summary.reach->library);
  EXPECT_EQ(summary.reach->library->correct, 2);
  EXPECT_EQ(summary.reach->library->replayed, 1);
  RunRecord refused = failed_record("refused", Stage::Match, "library-call", "found 'torch.conv2d()'");
  const Summary by_default = summary_of(std::vector<RunRecord>{right_graph(4), refused, refused, refused});
  const Score score_by_default = score({judge(right_graph(4)), judge(refused), judge(refused), judge(refused)});
  EXPECT_EQ(summary.reach->library->refused.linear, score_by_default.aggregated_linear);
  EXPECT_FALSE(by_default.reach->library);
  EXPECT_TRUE(to_json(summary).contains("library"));
  EXPECT_FALSE(to_json(by_default).contains("library"));
}

TEST(Summary, ASampleWithoutPassesIsAnAbstention) {
  RunRecord record = failed_record("none", Stage::Match, "bad-input", "the list of passes is missing");
  record.passes = {};
  record.provenance = Provenance{};
  EXPECT_TRUE(is_unmatched(record));
  record.provenance->passes = {{"fuse.py", "0"}};
  EXPECT_FALSE(is_unmatched(record)) << "a list that cannot be read is a failure";
}

TEST(Summary, AnAbstentionIsWorthExactlyOne) {
  const Summary summary = summary_of(std::vector<RunRecord>{unmatched_graph(), declined_graph()});
  EXPECT_EQ(summary.reach->abstaining.linear, 1);
  EXPECT_EQ(summary.reach->abstaining.passbench, 1);
  EXPECT_FALSE(summary.reach->speedup_applied);
}

// The figures of docs/scoring.md, "Beside the score".
TEST(Summary, AnAgentThatIsAlwaysWrongOwesItsScoreToForgiveness) {
  const auto score_of = [](const RunRecord& record) { return score({judge(record)}).passbench; };
  const RunRecord crash = failed_record("crash", Stage::Run, "crash", "x");
  EXPECT_NEAR(score_of(wrong_graph()), 0.1472, 5e-5);
  EXPECT_NEAR(score_of(crash), 0.1107, 5e-5);
  for (const RunRecord& record : {wrong_graph(), crash, unmatched_graph()}) {
    const Summary summary = summary_of(std::vector<RunRecord>{record});
    EXPECT_NEAR(summary.unforgiven.passbench, 0.1, 1e-12) << record.graph;
    EXPECT_NEAR(summary.unforgiven.linear, 0.1, 1e-12) << record.graph;
  }
}

TEST(Summary, WithoutFailuresNothingIsForgiven) {
  const std::vector<RunRecord> records{right_graph(2), declined_graph()};
  const Summary summary = summary_of(records);
  EXPECT_DOUBLE_EQ(summary.unforgiven.passbench, score(judge_all(records)).passbench);
}

TEST(Summary, UnforgivenFormsAgree) {
  ScoreOptions options;
  options.forgiving = false;
  const Score strict = score(judge_all(worked_example()), options);
  EXPECT_TRUE(strict.forms_agree);
  EXPECT_LT(strict.passbench, score(judge_all(worked_example())).passbench);
}

TEST(Summary, VerdictsAloneHaveNoReach) {
  const Summary summary = summary_of(std::vector<Verdict>{{Status::Correct, -10, 2}});
  EXPECT_FALSE(summary.reach);
  const Json json = to_json(summary);
  EXPECT_TRUE(json.at("coverage").is_null());
  EXPECT_EQ(json.at("fast_1"), 1.0);
}

TEST(Summary, OfNothingHasNoShares) {
  const Json json = to_json(summary_of(std::vector<RunRecord>{}));
  EXPECT_EQ(json.at("coverage"), 0.0);
  EXPECT_EQ(json.at("total"), 0);
}

}  // namespace
}  // namespace passnet::record
