#include "dataset/catalog/groups.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/strings.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GroupMember member(const std::string& path, const std::string& shapes, const std::string& dtypes,
                   const std::string& type = "fusible", const std::string& ops = "[\"add\"]") {
  return {path, type, ops, shapes, dtypes};
}

// Element types by turns.
void append_bucket(std::vector<GroupMember>& members, const std::string& letter, int count) {
  constexpr const char* kTypes[] = {"[\"float32\"]", "[\"float16\"]", "[\"bfloat16\"]"};
  for (int i = 0; i < count; ++i)
    members.push_back(member(fmt::format("{}{:02}", letter, i), "[[" + letter + "]]", kTypes[i % 3]));
}

// "RULE: MEMBER MEMBER …" of each group.
std::vector<std::string> texts(const std::vector<SamplingGroup>& groups) {
  std::vector<std::string> lines;
  for (const SamplingGroup& group : groups)
    lines.push_back(fmt::format("{}: {}", group.rule, join(group.members, " ")));
  return lines;
}

// The vector of the specification; of two digits each, so that names sort by number.
TEST(SamplingGroups, FollowTheRulesOfUpstream) {
  std::vector<GroupMember> members;
  append_bucket(members, "b", 3);
  append_bucket(members, "a", 35);
  EXPECT_THAT(texts(sampling_groups(members)),
              ElementsAre("1: a16", "1: a32", "2: a00 b00", "4: a02 a01 a03 b02 b01", "3: a04 a05 a06 a20 a21 a22"));
}

TEST(SamplingGroups, NameTheirPolicy) {
  std::vector<GroupMember> members;
  append_bucket(members, "a", 35);
  for (const SamplingGroup& group : sampling_groups(members))
    EXPECT_EQ(name(group.policy()), group.rule <= 2 ? "bucket_policy_v1" : "bucket_policy_v2") << group.rule;
}

TEST(SamplingGroups, DoNotDependOnTheOrderOfGraphs) {
  std::vector<GroupMember> members;
  append_bucket(members, "a", 20);
  std::vector<GroupMember> turned(members.rbegin(), members.rend());
  const auto groups = sampling_groups(members), others = sampling_groups(turned);
  ASSERT_EQ(texts(groups), texts(others));
  for (size_t i = 0; i < groups.size(); ++i) EXPECT_EQ(groups[i].id, others[i].id);
  EXPECT_EQ(groups[0].id.size(), 32u);
  EXPECT_NE(groups[0].id, groups[1].id);
}

TEST(SamplingGroups, HoldOneTypeAndOneSequence) {
  const auto groups = sampling_groups(
      {member("x", "[]", "[]"), member("y", "[]", "[]", "typical"), member("z", "[]", "[]", "fusible", "[\"mul\"]")});
  EXPECT_THAT(texts(groups), ElementsAre("2: x", "2: z", "2: y"));
  EXPECT_THAT(sampling_groups({}), IsEmpty());
}

TEST(SamplingGroups, TakeThreeElementTypesOfABucketAtMost) {
  std::vector<GroupMember> members;
  for (const char* name : {"head", "p", "q", "r", "s"}) members.push_back(member(name, "[]", name));
  EXPECT_THAT(texts(sampling_groups(members)), ElementsAre("2: head", "4: p q r", "3: s"));
}

graphdir::GraphDir graph_of(const std::vector<std::vector<int64_t>>& shapes) {
  graphdir::GraphDir graph;
  for (const auto& shape : shapes) {
    graphdir::TensorMeta& meta = graph.weights.emplace_back();
    meta.shape = shape;
    meta.dtype = ir::DType::Float16;
  }
  return graph;
}

TEST(Buckets, GoByPowersOfSixteen) {
  EXPECT_EQ(shape_bucket(graph_of({{0, 1, 15, 16, 255, 256}, {4095, 4096, 65535, 65536}, {}})),
            "[[-1,0,0,1,1,2],[2,3,3,4],[]]");
}

TEST(Buckets, NameElementTypes) { EXPECT_EQ(dtype_bucket(graph_of({{1}, {2}})), "[\"float16\",\"float16\"]"); }

}  // namespace
}  // namespace passnet::dataset
