// The two files that upstream's tools read: whole, of this run, or not there.
#include "run/keep/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/json/json.h"
#include "record/example_records.h"
#include "record/score/score.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;

TEST(Workspace, HoldsTheScoreThatUpstreamWouldGiveOfTheLogBesideIt) {
  const ScratchDirectory scratch;
  const fs::path place = scratch.path / "new/place";
  const std::vector<record::RunRecord> records = record::worked_example();
  ASSERT_TRUE(write_workspace(place, records, "the-run"));
  const Json score = try_parse_json(*read_file(place / "aggregated_score.json", FileKind::Lines));
  const auto log = record::verdicts_from_upstream_log("log", *read_file(place / "validation.log", FileKind::Lines));
  ASSERT_TRUE(log);
  EXPECT_DOUBLE_EQ(score.at("score"), record::score(*log).passbench);
  EXPECT_EQ(score.at("id"), 1);
  EXPECT_EQ(score.at("total"), records.size());
  EXPECT_EQ(fs::path(score.at("run").get<std::string>()).filename(), "the-run");
}

TEST(Workspace, NothingOfAnEarlierRunStays) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(clear_workspace(scratch.path / "nowhere"));
  for (const char* name : {"aggregated_score.json", "validation.log", "notes"})
    ASSERT_TRUE(write_file(scratch.path / name, std::string_view("old")));
  ASSERT_TRUE(clear_workspace(scratch.path));
  EXPECT_FALSE(fs::exists(scratch.path / "aggregated_score.json"));
  EXPECT_FALSE(fs::exists(scratch.path / "validation.log"));
  EXPECT_TRUE(fs::exists(scratch.path / "notes"));
}

TEST(Workspace, WhatTheMachineKeptFromBeingEvaluatedGetsNoScore) {
  const ScratchDirectory scratch;
  std::vector<record::RunRecord> records = record::worked_example();
  records.push_back(record::failed_record("g", record::Stage::Build, "resource", "no compiler"));
  const std::string score = (scratch.path / "aggregated_score.json").string();
  EXPECT_EQ(write_workspace(scratch.path, records, "run").error().message,
            "1 of " + std::to_string(records.size()) + " graphs were not evaluated: " + score + " gets no score");
  EXPECT_EQ(write_workspace(scratch.path, {}, "run").error().message,
            "0 of 0 graphs were not evaluated: " + score + " gets no score");
  for (record::RunRecord& record : records) record.disturbed = true, record.error_kind.clear();
  records = {records[0]};
  EXPECT_EQ(write_workspace(scratch.path, records, "run").error().message, "no graph counts: there is no score");
  EXPECT_FALSE(fs::exists(scratch.path / "aggregated_score.json"));
  EXPECT_TRUE(fs::exists(scratch.path / "validation.log"));
}

}  // namespace
}  // namespace passnet::run
