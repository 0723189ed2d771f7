#include "base/shard.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace passnet {
namespace {

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

std::string parsed(const char* text, std::map<std::string, std::string> values = {}) {
  const Result<Shard> shard = parse_shard(text, environment(std::move(values)));
  return shard ? to_string(*shard) : shard.error().message;
}

TEST(Shard, EachNameIsInOnePartAndPartsAreEven) {
  std::map<int, int> sizes;
  for (int item = 0; item < 4000; ++item) {
    const std::string name = fmt::format("sample_{}", item);
    int parts = 0;
    for (int index = 1; index <= 8; ++index) {
      if (!Shard{index, 8}.holds(name)) continue;
      ++parts;
      ++sizes[index];
    }
    ASSERT_EQ(parts, 1) << name;
  }
  for (const auto& [index, size] : sizes) EXPECT_NEAR(size, 500, 100) << index;
}

// Machines of other versions and processors must agree on it: these never change.
TEST(Shard, TheHashOfANameIsTheSameEverywhere) {
  std::string parts;
  for (const char* name : {"vit_add_layer_norm", "gpt2_gelu", "resnet18", "", "ö"}) {
    for (int index = 1; index <= 5; ++index) parts += Shard{index, 5}.holds(name) ? fmt::format("{}", index) : "";
  }
  EXPECT_EQ(parts, "23243");
  EXPECT_TRUE((Shard{1, 1}.holds("x")));
}

TEST(Shard, IsGivenAsIOfN) {
  EXPECT_EQ(parsed("2/8"), "2/8");
  EXPECT_EQ(parsed("1/1"), "1/1");
  EXPECT_EQ(parsed("9/8"), "found '9/8', expected I/N with I from 1 to N, auto or auto/N");
  EXPECT_EQ(parsed("0/8"), "found '0/8', expected I/N with I from 1 to N, auto or auto/N");
  for (const char* text : {"", "3", "/", "a/3", "1/", "-1/3", "1/3x", "1/0", "99999999999/99999999999", "1/3/5"})
    EXPECT_EQ(parsed(text), fmt::format("found '{}', expected I/N with I from 1 to N, auto or auto/N", text));
}

TEST(Shard, IsThePlaceOfATaskInItsArray) {
  const auto slurm = [](const char* id, const char* count, const char* first, const char* step = "") {
    return std::map<std::string, std::string>{{"SLURM_ARRAY_TASK_ID", id},
                                              {"SLURM_ARRAY_TASK_COUNT", count},
                                              {"SLURM_ARRAY_TASK_MIN", first},
                                              {"SLURM_ARRAY_TASK_STEP", step}};
  };
  EXPECT_EQ(parsed("auto", slurm("0", "4", "0")), "1/4");
  EXPECT_EQ(parsed("auto", slurm("4", "4", "1")), "4/4");
  EXPECT_EQ(parsed("auto/4", slurm("4", "4", "1")), "4/4");
  EXPECT_EQ(parsed("auto", slurm("5", "3", "1", "2")), "3/3");
  EXPECT_EQ(parsed("auto", slurm("9", "3", "1")),
            "auto: found task 9 in an array of 3 from 1 on, expected one with equal steps");
  EXPECT_EQ(parsed("auto", slurm("2", "", "1")),
            "auto: found SLURM_ARRAY_TASK_ID without its COUNT or MIN, expected all three");
  EXPECT_EQ(parsed("auto/8", slurm("4", "4", "1")), "auto/8: found an array of 4 tasks in SLURM_ARRAY_TASK_COUNT");
}

TEST(Shard, IsThePlaceOfAJobOfKubernetes) {
  EXPECT_EQ(parsed("auto/4", {{"JOB_COMPLETION_INDEX", "0"}}), "1/4");
  EXPECT_EQ(parsed("auto/4", {{"JOB_COMPLETION_INDEX", "4"}}),
            "found '5/4', expected I/N with I from 1 to N, auto or auto/N");
  EXPECT_EQ(parsed("auto", {{"JOB_COMPLETION_INDEX", "0"}}),
            "auto: found JOB_COMPLETION_INDEX, which tells no number of jobs, expected auto/N");
  EXPECT_EQ(parsed("auto"), "auto: found no SLURM_ARRAY_TASK_ID and no JOB_COMPLETION_INDEX, expected one of them");
}

}  // namespace
}  // namespace passnet
