#include "author/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file/file.h"
#include "pass/source.h"
#include "tests/author/scripted.h"
#include "tests/scratch.h"

namespace passnet::author {
namespace {

namespace fs = std::filesystem;
using record::RunRecord;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::SizeIs;

RunRecord disturbed(const std::string& graph) {
  RunRecord one = timed(graph, 0.5);
  one.disturbed = true;
  return one;
}

/// Two graphs, and two passes for both. An evaluation gives what was put down for the passes that are listed.
class Judging : public testing::Test {
 protected:
  Judging() {
    sample_.path = scratch_.path;
    sample_.graph_names = {"g1", "g2"};
    sample_.graph_paths = {"g1", "g2"};
    sample_.pass_dir = scratch_.path / "pass_dir";
    fs::create_directories(sample_.pass_dir);
    for (const char* name : {"a", "b"}) {
      EXPECT_TRUE(write_file(sample_.pass_dir / (std::string(name) + ".py"), std::string_view("# as written\n")));
      candidates_.push_back(
          {name, name, {"g1", "g2"}, false, [this, name](const std::map<std::string, std::string>& declined) {
             std::string text;
             for (const auto& [graph, why] : declined) text += graph + ": " + why + "\n";
             return write_file(sample_.pass_dir / (std::string(name) + ".py"), std::string_view(text));
           }});
    }
  }

  Names listed() const { return author::listed(sample_.pass_dir); }

  /// evaluations: as many as the budget is for; -1: no end.
  Judged judge(int evaluations) {
    const Evaluate evaluate = [&](const graphdir::Sample& sample, const IsSpent&) -> Result<Records> {
      asked_.push_back(listed());
      asked_graphs_.push_back(sample.graph_names);
      const Records& records = (sample.graph_names == first_look_ ? looked_at_ : records_).at(asked_.back());
      Records found = evaluated(records, sample.graph_names, asked_.back());
      for (RunRecord& one : found) {
        if (stands_in_all(one.graph + ": ", sample.pass_dir))
          one = left_alone(one.graph);
        else if (disturbed_[one.graph]-- > 0)
          one = evaluated({disturbed(one.graph)}, {one.graph}, asked_.back())[0];
      }
      return found;
    };
    const IsSpent is_spent = [&] { return asked_.size() >= static_cast<size_t>(evaluations); };
    Evaluations made(evaluate, evaluations < 0 ? IsSpent() : is_spent);
    Result<Judged> judged = judge_passes(sample_, candidates_, made, {first_look_});
    EXPECT_TRUE(judged) << to_string(judged.error());
    return std::move(*judged);
  }

  const ScratchDirectory scratch_;
  graphdir::Sample sample_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> first_look_;
  std::map<Names, Records> records_, looked_at_;  // of all graphs, and of those that are looked at first
  std::map<std::string, int> disturbed_;          // by graph: how many evaluations of it are
  std::vector<Names> asked_, asked_graphs_;       // what was listed, and which graphs, by evaluation
};

const Names kBoth = {"a", "b"}, kA = {"a"}, kB = {"b"};

TEST_F(Judging, KeepsAllWithOneEvaluationWhereAllAreFaster) {
  records_[kBoth] = {timed("g1", 2), timed("g2", 2)};
  const Judged judged = judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth));
  EXPECT_FALSE(judged.ended_by_budget);
  EXPECT_EQ(listed(), kBoth);
  EXPECT_NEAR(judged.score, 2, 0.01);
}

TEST_F(Judging, WithoutBudgetKeepsNothingThatIsNotProven) {
  records_[kBoth] = {timed("g1", 2), timed("g2", 2)};
  const Judged judged = judge(0);
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_TRUE(judged.ended_by_budget);
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_FALSE(fs::exists(sample_.pass_dir / "a.py"));
  EXPECT_EQ(judged.passes[0].why, "the budget ended before it was proven");
  EXPECT_EQ(judged.score, 1);
}

TEST_F(Judging, KeepsWhatWasProvenAloneWhenTheBudgetEnds) {
  records_[kBoth] = {timed("g1", 2), wrong("g2")};
  records_[kA] = {timed("g1", 2), timed("g2", 0.5)};
  records_[kB] = {timed("g1", 2), wrong("g2")};
  const Judged judged = judge(2);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kA, kA));
  EXPECT_THAT(asked_graphs_.back(), ElementsAre("g2"));  // as the list stands: no pass takes it
  EXPECT_TRUE(judged.ended_by_budget);
  EXPECT_EQ(listed(), kA);
  EXPECT_FALSE(fs::exists(sample_.pass_dir / "b.py"));
  // It declines the graph that it is slower on, as an evaluation would have said next.
  EXPECT_EQ(*read_file(sample_.pass_dir / "a.py", FileKind::Lines), "g2: 0.50x\n");
  ASSERT_THAT(judged.records, SizeIs(1));
  EXPECT_EQ(judged.records[0].graph, "g1");
  EXPECT_NEAR(judged.score, std::sqrt(2), 0.01);
}

TEST_F(Judging, KeepsTheSetThatIsWorthTheMostWhenTheBudgetEnds) {
  records_[kBoth] = {timed("g1", 3), timed("g2", 0.9)};
  records_[kA] = {timed("g1", 2), timed("g2", 0.9)};
  records_[kB] = {timed("g1", 1.5), timed("g2", 0.9)};
  const Judged judged = judge(3);
  EXPECT_TRUE(judged.ended_by_budget);
  EXPECT_EQ(listed(), kBoth);
  EXPECT_EQ(*read_file(sample_.pass_dir / "b.py", FileKind::Lines), "g2: 0.90x\n");
  EXPECT_NEAR(judged.score, std::sqrt(3), 0.01);
}

TEST_F(Judging, DeclinesWhatIsFoundSlowerAfterTheBudgetEnded) {
  sample_.graph_paths = {"g1", "g2", "g3"};
  sample_.graph_names = candidates_[0].graphs = candidates_[1].graphs = {"g1", "g2", "g3"};
  records_[kBoth] = {timed("g1", 2), timed("g2", 0.5), timed("g3", 0.5)};
  disturbed_["g2"] = 1;
  const Judged judged = judge(1);
  EXPECT_TRUE(judged.ended_by_budget);
  EXPECT_EQ(asked_graphs_, (std::vector<Names>{{"g1", "g2", "g3"}, {"g2", "g3"}, {"g2", "g3"}}));
  EXPECT_EQ(listed(), kBoth);
  EXPECT_EQ(*read_file(sample_.pass_dir / "a.py", FileKind::Lines), "g2: 0.50x\ng3: 0.50x\n");
  ASSERT_THAT(judged.records, SizeIs(1));
  EXPECT_EQ(judged.records[0].graph, "g1");
}

TEST_F(Judging, KeepsNothingThatDeclinedAllItsGraphsWhenTheBudgetEnds) {
  candidates_[0].declined = {{"g1", "0.50x"}, {"g2", "0.50x"}};
  records_[kBoth] = records_[kB] = {timed("g1", 3), timed("g2", 0.9)};
  const Judged judged = judge(1);
  EXPECT_TRUE(judged.ended_by_budget);
  EXPECT_FALSE(judged.passes[0].kept);
  EXPECT_TRUE(judged.passes[1].kept);
  EXPECT_EQ(listed(), kB);
}

TEST_F(Judging, GoesOnToTheEndWhereTheBudgetLasts) {
  records_[kBoth] = {timed("g1", 2), wrong("g2")};
  records_[kA] = {timed("g1", 2), timed("g2", 2)};
  records_[kB] = {timed("g1", 2), wrong("g2")};
  const Judged judged = judge(4);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kA, kB));
  EXPECT_FALSE(judged.ended_by_budget);
  EXPECT_EQ(listed(), kA);
  EXPECT_THAT(judged.passes[1].why, testing::StartsWith("g2 is not right"));
}

TEST(Gains, AreOfGraphsThatAPassAppliesTo) {
  const std::vector<GraphGain> gains =
      gains_of({timed("fast", 2), timed("slow", 0.5), wrong("wrong"), left_alone("alone")});
  std::vector<std::pair<std::string, Gain>> found;
  for (const GraphGain& one : gains) found.emplace_back(one.graph, one.gain);
  EXPECT_THAT(found, ElementsAre(std::pair{"fast", Gain::Faster}, std::pair{"slow", Gain::NotFaster},
                                 std::pair{"wrong", Gain::Wrong}));
}

TEST_F(Judging, KeepsTogetherWhatGainsOnlyTogether) {
  records_[kBoth] = {timed("g1", 2), timed("g2", 0.9)};
  records_[kA] = records_[kB] = {timed("g1", 0.5), timed("g2", 0.5)};
  const Judged judged = judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kA, kB, kBoth));
  EXPECT_THAT(asked_graphs_.back(), ElementsAre("g2"));
  EXPECT_EQ(listed(), kBoth);
  EXPECT_EQ(*read_file(sample_.pass_dir / "b.py", FileKind::Lines), "g2: 0.90x\n");
}

TEST_F(Judging, KeepsTogetherWhatIsWorthMoreThanEachAlone) {
  records_[kBoth] = {timed("g1", 3), timed("g2", 1)};
  records_[kA] = {timed("g1", 2), timed("g2", 1)};
  records_[kB] = {timed("g1", 0.9), timed("g2", 1)};
  const Judged judged = judge(-1);
  EXPECT_EQ(listed(), kBoth);
  EXPECT_EQ(*read_file(sample_.pass_dir / "b.py", FileKind::Lines), "g2: 1.00x\n");
  EXPECT_NEAR(judged.score, std::sqrt(3), 0.01);
}

TEST_F(Judging, KeepsOneAloneWhereTogetherTheyAreHardlyWorthMore) {
  records_[kBoth] = {timed("g1", 2.05), timed("g2", 1)};
  records_[kA] = {timed("g1", 2), timed("g2", 1)};
  records_[kB] = {timed("g1", 0.9), timed("g2", 1)};
  EXPECT_NEAR(judge(-1).score, std::sqrt(2), 0.01);
  EXPECT_EQ(listed(), kA);
}

TEST_F(Judging, WhatIsDoubtfulIsLookedAtOnAFewGraphsFirst) {
  first_look_ = {"g2"};
  candidates_[0].is_doubtful = true;
  looked_at_[kBoth] = {timed("g2", 0.9)};
  looked_at_[kA] = {timed("g2", 0.9)};
  looked_at_[kB] = {timed("g2", 2)};
  records_[kB] = {timed("g1", 2), timed("g2", 2)};
  const Judged judged = judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kA, kB, kB));
  EXPECT_THAT(asked_graphs_.back(), ElementsAre("g1"));
  EXPECT_EQ(listed(), kB);
  EXPECT_FALSE(fs::exists(sample_.pass_dir / "a.py"));
  EXPECT_EQ(judged.passes[0].why, "no graph is faster beyond the noise: 0.90x (1 of 2 graphs)");
  EXPECT_NEAR(judged.score, 2, 0.01);
}

TEST_F(Judging, WhatGainsOnNoneOfThemIsNotEvaluatedOnAll) {
  first_look_ = {"g2"};
  candidates_[1].is_doubtful = true;
  looked_at_[kBoth] = {wrong("g2")};
  looked_at_[kA] = {wrong("g2")};
  looked_at_[kB] = {timed("g2", 1)};
  const Judged judged = judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kA, kB));
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_THAT(judged.passes[0].why, testing::StartsWith("g2 is not right"));
  EXPECT_EQ(judged.score, 1);
  EXPECT_THAT(judged.records, IsEmpty());
}

TEST_F(Judging, WhatIsNotDoubtfulIsEvaluatedOnAllAtOnce) {
  first_look_ = {"g2"};
  records_[kBoth] = {timed("g1", 2), timed("g2", 2)};
  judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth));
}

TEST_F(Judging, WhatWasLookedAtIsNotEvaluatedAgain) {
  first_look_ = {"g2"};
  candidates_[0].is_doubtful = true;
  looked_at_[kBoth] = {timed("g2", 2)};
  records_[kBoth] = {timed("g1", 3), timed("g2", 9)};
  const Judged judged = judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kBoth));
  EXPECT_THAT(asked_graphs_, ElementsAre(ElementsAre("g2"), ElementsAre("g1")));
  EXPECT_THAT(judged.records, ElementsAre(testing::Field(&record::RunRecord::graph, "g1"),
                                          testing::Field(&record::RunRecord::graph, "g2")));
  EXPECT_NEAR(judged.score, std::sqrt(6), 0.01);
}

TEST_F(Judging, WhatGainsAloneOnNoneOfAFewGraphsIsTriedOnNoOther) {
  first_look_ = {"g2"};
  records_[kBoth] = {timed("g1", 2), timed("g2", 0.9)};
  looked_at_[kA] = {timed("g2", 0.9)};
  looked_at_[kB] = {timed("g2", 2)};
  records_[kB] = {timed("g1", 2), timed("g2", 2)};
  const Judged judged = judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kA, kB, kB));
  EXPECT_THAT(asked_graphs_, ElementsAre(Names{"g1", "g2"}, Names{"g2"}, Names{"g2"}, Names{"g1"}));
  EXPECT_EQ(judged.passes[0].why, "no graph is faster beyond the noise: 0.90x (1 of 2 graphs)");
  EXPECT_EQ(listed(), kB);
}

TEST(Evaluated, StandsForListsWithoutWhatDidNotApplyAndForNoOther) {
  // The first pass that does not decline the graph applies, and leaves nothing to those behind it.
  bool asked = false;
  std::vector<ListedPass> listed;
  const Evaluate evaluate = [&](const graphdir::Sample&, const IsSpent&) -> Result<Records> {
    asked = true;
    RunRecord one = timed("g1", 2);
    one.passes.clear();
    int matches = 1;
    for (const ListedPass& pass : listed)
      one.passes.push_back({pass.name, pass.declined.empty() ? std::exchange(matches, 0) : 0, 0, ""});
    return Records{one};
  };
  Evaluations evaluations(evaluate, {});
  graphdir::Sample sample;
  sample.graph_names = {"g1"};
  sample.graph_paths = {"g1"};
  const auto is_asked = [&](std::vector<ListedPass> passes) {
    listed = std::move(passes);
    asked = false;
    const Result<std::optional<Records>> records = evaluations.of(sample, listed);
    EXPECT_TRUE(records && *records && (*records)->size() == 1);
    return asked;
  };
  const ListedPass a{"a", "1", {}}, b{"b", "2", {}}, renamed{"c", "1", {}}, declining{"a", "1", {"g1"}};
  EXPECT_TRUE(is_asked({a, b}));
  EXPECT_FALSE(is_asked({a, b}));
  EXPECT_FALSE(is_asked({a}));
  EXPECT_FALSE(is_asked({renamed, b}));
  EXPECT_TRUE(is_asked({declining, b}));  // b may apply where a does not
  EXPECT_FALSE(is_asked({b}));
  EXPECT_TRUE(is_asked({b, a}));
  EXPECT_TRUE(is_asked({a, b, {"d", "3", {}}}));
}

TEST_F(Judging, WhatIsFasterByLittleIsMeasuredTwice) {
  records_[kBoth] = {timed("g1", 2), wrong("g2")};
  records_[kA] = {timed("g1", 1.05), timed("g2", 2)};
  records_[kB] = {timed("g1", 2), wrong("g2")};
  judge(-1);
  EXPECT_THAT(asked_, ElementsAre(kBoth, kA, kB, kA));
  EXPECT_THAT(asked_graphs_.back(), ElementsAre("g1"));
}

TEST_F(Judging, WhatCouldNotBeMeasuredIsMeasuredAgain) {
  // Another process works on the machine while the first two evaluations of g2 run.
  records_[kBoth] = {timed("g1", 2), timed("g2", 2)};
  disturbed_ = {{"g2", 2}};
  const Judged judged = judge(-1);
  EXPECT_THAT(asked_graphs_, ElementsAre(Names{"g1", "g2"}, Names{"g2"}, Names{"g2"}));
  EXPECT_THAT(judged.unmeasured, IsEmpty());
  EXPECT_EQ(listed(), kBoth);
  EXPECT_EQ(*read_file(sample_.pass_dir / "a.py", FileKind::Lines), "# as written\n");
}

TEST_F(Judging, NoPassDeclinesWhatCouldNotBeMeasured) {
  records_[kBoth] = records_[kA] = records_[kB] = {timed("g1", 2), timed("g2", 2)};
  disturbed_ = {{"g2", 1000}};
  const Judged judged = judge(-1);
  EXPECT_THAT(judged.unmeasured, ElementsAre(Pair("g2", "the machine did other work")));
  EXPECT_EQ(listed(), kBoth);
  for (const PassVerdict& one : judged.passes) EXPECT_THAT(one.declined, IsEmpty()) << one.pass;
  EXPECT_EQ(*read_file(sample_.pass_dir / "b.py", FileKind::Lines), "# as written\n");
}

TEST(Evaluation, SaysWhyAGraphCouldNotBeMeasured) {
  RunRecord record;
  record.error = "error: the GPU is lost\nhint: start anew";
  EXPECT_EQ(why_not_measured(record), "the GPU is lost");
}

TEST_F(Judging, WhatIsSlowElsewhereDeclinesThatAlone) {
  records_[kBoth] = {timed("g1", 0.9), timed("g2", 2)};
  records_[kA] = records_[kB] = {timed("g1", 0.8), timed("g2", 2)};
  disturbed_ = {{"g2", 1000}};
  const Judged judged = judge(-1);
  EXPECT_THAT(judged.unmeasured, ElementsAre(Pair("g2", "the machine did other work")));
  for (const PassVerdict& one : judged.passes) EXPECT_EQ(one.declined.contains("g2"), false) << one.pass;
  EXPECT_EQ(read_file(sample_.pass_dir / "a.py", FileKind::Lines).value_or("none"), "g1: 0.80x\n");
}

TEST_F(Judging, KeepsAllWhereNothingCouldBeMeasured) {
  first_look_ = {"g2"};
  candidates_[0].is_doubtful = true;
  looked_at_[kBoth] = {timed("g2", 2)};
  records_[kBoth] = records_[kA] = records_[kB] = {timed("g1", 2), timed("g2", 2)};
  looked_at_[kA] = looked_at_[kB] = looked_at_[kBoth];
  disturbed_ = {{"g1", 1000}, {"g2", 1000}};
  const Judged judged = judge(-1);
  EXPECT_THAT(judged.unmeasured, ElementsAre(Key("g1"), Key("g2")));
  EXPECT_EQ(listed(), kBoth);
  EXPECT_EQ(judged.passes[0].why, "undecided: no graph could be measured");
}

TEST_F(Judging, AFirstLookProvesNothing) {
  first_look_ = {"g2"};
  candidates_[0].is_doubtful = true;
  looked_at_[kBoth] = {timed("g2", 2)};
  const Judged judged = judge(1);
  EXPECT_THAT(asked_, ElementsAre(kBoth));
  EXPECT_TRUE(judged.ended_by_budget);
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(judged.score, 1);
}

}  // namespace
}  // namespace passnet::author
