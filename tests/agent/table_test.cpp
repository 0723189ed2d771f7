#include "agent/run/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::agent {
namespace {

using testing::HasSubstr;

Json results() {
  const Json right{{"score", 2.0}, {"graphs", 6}, {"correct", 5}, {"abstained", 1}, {"unmeasured", 0}};
  const Json attempts = {{{"steps", 3}}, {{"steps", 5}}};
  return {{"score", 1.5},
          {"pass_at_k", {{"1", 0.5}, {"2", 0.75}}},
          {"usage", {{"input", 900}, {"cached", 300}, {"output", 100}, {"reasoning", 0}}},
          {"cost", 3.0},
          {"llm_seconds", 50.0},
          {"tool_seconds", 30.0},
          {"device_seconds", 20.0},
          {"interrupted", false},
          {"tasks",
           {{{"sample", "a"}, {"score", 2.25}, {"confirmed", right}, {"attempts", attempts}},
            {{"sample", "b"}, {"score", 1.0}, {"confirmed", nullptr}, {"attempts", attempts}}}}};
}

TEST(AgentTable, SumsARunUp) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_file(scratch.path / "results.json", std::string_view(results().dump())));
  const auto row = load_run_row(scratch.path);
  ASSERT_TRUE(row.has_value()) << to_string(row.error());
  EXPECT_EQ(row->tasks, 2u);
  EXPECT_EQ(row->attempts, 4u);
  EXPECT_EQ(row->correct, 1);
  EXPECT_EQ(row->fast_1, 0.5);
  EXPECT_EQ(row->pass_at_1, 0.5);
  EXPECT_EQ(row->k, 2);
  EXPECT_EQ(row->pass_at_k, 0.75);
  EXPECT_EQ(row->steps, 4);
  EXPECT_EQ(row->tokens, 1000);
  EXPECT_EQ(row->gains, 1);
  EXPECT_EQ(row->per_gain(row->cost), 3);
  EXPECT_EQ(row->seconds, 80);
  EXPECT_EQ(row->device_seconds, 20);
}

TEST(AgentTable, ShowsTheBestFirst) {
  RunRow slow, fast;
  slow.run = "slow";
  fast.run = "fast";
  fast.score = 2;
  const std::string text = render_table({slow, fast});
  EXPECT_LT(text.find("fast  "), text.find("slow  "));
}

TEST(AgentTable, IsOfResults) {
  const ScratchDirectory scratch;
  EXPECT_FALSE(load_run_row(scratch.path).has_value());
  ASSERT_TRUE(write_file(scratch.path / "results.json", std::string_view("{}")));
  const auto row = load_run_row(scratch.path);
  ASSERT_FALSE(row.has_value());
  EXPECT_THAT(row.error().message, HasSubstr("no results of 'agent run'"));
}

}  // namespace
}  // namespace passnet::agent
