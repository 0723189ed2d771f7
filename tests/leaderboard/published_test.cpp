#include "leaderboard/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iostream>

#include "leaderboard/submission.h"
#include "tests/paths.h"

namespace passnet::leaderboard {
namespace {

namespace fs = std::filesystem;

TEST(Published, AModelsScoreIsTheGeometricMeanOfItsTasks) {
  EXPECT_NEAR(*model_score({2.0, 0.5}), 1, 1e-12);
  EXPECT_NEAR(*model_score({0.4, 0.9}), 0.6, 1e-12);
}

TEST(Published, WhatIsMissingOrBelowTheFloorCountsTheFloor) {
  EXPECT_NEAR(*model_score({1.0, std::nullopt}), std::sqrt(0.1), 1e-12);
  EXPECT_NEAR(*model_score({1.0, 0.0}), std::sqrt(0.1), 1e-12);
  EXPECT_FALSE(model_score({}));
}

TEST(Published, AScoreIsANumber) {
  EXPECT_EQ(*parse_score("0.10000000000000005", "score.txt"), 0.10000000000000005);
  EXPECT_EQ(*parse_score(" 1.5\n", "score.txt"), 1.5);
  for (const char* bad : {"", "nan", "-1", "inf", "0.5 0.6", "fast"}) {
    const auto found = parse_score(bad, "score.txt");
    ASSERT_FALSE(found) << bad;
    EXPECT_EQ(to_string(found.error()),
              "score.txt: error: found '" + std::string(bad) + "', expected a score: a number that is not negative");
  }
}

TEST(Published, TheTableKnowsItsModels) {
  EXPECT_EQ(published_model("Claude-Sonnet-4.6")->score, 0.448);
  EXPECT_FALSE(published_model("nobody"));
}

// The published scores of four models' tasks give their published headlines.
TEST(Published, ScoresOfTasksGiveTheHeadlines) {
  const fs::path corpus = tests::source_dir() / "../shared/corpus/submissions";
  if (!fs::is_directory(corpus / "tasks")) GTEST_SKIP() << "0 of 4 models: no corpus";
  for (const auto& [model, mean] : {std::pair{"Claude-Opus-4.6", 0.4361},
                                    {"GPT-5.4", 0.4284},
                                    {"MiniMax-M2.7", 0.2156},
                                    {"Qwen3-30B-A3B-SFT", 0.3733}}) {
    const auto submissions = find_submissions({(corpus / model).string()});
    ASSERT_TRUE(submissions);
    std::vector<std::optional<double>> tasks;
    for (const fs::directory_entry& list : fs::directory_iterator(corpus / "tasks"))
      tasks.push_back(*published_score((*submissions)[0], list.path().stem().string()));
    EXPECT_EQ(tasks.size(), 200);
    EXPECT_NEAR(*model_score(tasks), mean, 5e-5) << model;
    EXPECT_NEAR(*model_score(tasks) / published_model(model)->score, 1, 0.065) << model;
  }
}

}  // namespace
}  // namespace passnet::leaderboard
