// What a drafted pass says, without running it; that it computes the right thing is tests/eval/new_pass_test.py.
#include "author/draft.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "rewrite/match.h"
#include "tests/author/example.h"

namespace passnet::author {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string tensor(const std::string& dtype, const std::string& shape) {
  return R"({"dtype": ")" + dtype + R"(", "shape": [)" + shape + "]}";
}

Example scaled(const std::string& name, const std::string& factor, const std::string& dtype, const std::string& shape) {
  const std::string type = tensor(dtype, shape);
  return example(name, "x",
                 "        tmp_0 = x * " + factor + "\n        tmp_1 = torch.relu(tmp_0)\n        return (tmp_1,)\n",
                 {{"x", type}, {"tmp_0", type}, {"tmp_1", type}});
}

Draft draft(const std::vector<Example>& examples, std::optional<std::pair<size_t, size_t>> range = {}) {
  Subject subject = merge(examples);
  Result<Draft> made = draft_pass(subject, "written", range);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *made : Draft{};
}

TEST(Draft, FusesElementwiseOperatorsIntoOneKernel) {
  const Draft made = draft({scaled("a", "0.5", "float32", "2, 3")});
  EXPECT_EQ(made.taken, 2U);
  EXPECT_THAT(made.left_out, IsEmpty());
  EXPECT_THAT(made.cpp, HasSubstr("PASSNET_KERNEL written_tmp_1(const float* x, float* tmp_1_out, int64_t n) {"));
  EXPECT_EQ(made.cpp.find("PASSNET_KERNEL"), made.cpp.rfind("PASSNET_KERNEL"));
  EXPECT_THAT(made.cuda, HasSubstr("if (i >= n) return;"));
}

TEST(Draft, RoundsToADtypeThatDiffersBetweenTheGraphs) {
  const Draft made = draft({scaled("a", "0.5", "float32", "2, 3"), scaled("b", "0.5", "bfloat16", "4, 3")});
  EXPECT_THAT(made.cpp, HasSubstr("const float tmp_0 = rounded<T>(x_i * 0.5f);"));
  EXPECT_THAT(made.python, HasSubstr("T=x.dtype"));
  EXPECT_THAT(made.python,
              HasSubstr("if x.dtype not in (torch.float32, torch.bfloat16):\n        return NotImplemented"));
}

TEST(Draft, MakesAConstantThatDiffersAnInputOfThePattern) {
  const Draft made = draft({scaled("a", "0.5", "float32", "2, 3"), scaled("b", "0.25", "float32", "2, 3")});
  EXPECT_THAT(made.python, HasSubstr("def pattern(x, other):\n    tmp_0 = x * other\n"));
  EXPECT_THAT(made.cpp, HasSubstr("float other"));
}

TEST(Draft, NamesAGraphOfAnotherStructure) {
  const std::string type = tensor("float32", "2, 3");
  const Subject subject =
      merge({scaled("a", "0.5", "float32", "2, 3"),
             example("b", "x", "        tmp_0 = x + 1\n        return (tmp_0,)\n", {{"x", type}, {"tmp_0", type}})});
  ASSERT_THAT(subject.others, SizeIs(1));
  EXPECT_EQ(subject.others[0], "b: 3 nodes, expected 4 as in a");
  EXPECT_THAT(subject.examples, SizeIs(1));
}

Example with_a_sort() {
  const std::string type = tensor("float32", "2, 3");
  return example("a", "x",
                 "        tmp_0 = torch.relu(x)\n        tmp_1 = tmp_0 + 1\n        sort = torch.sort(tmp_1)\n        "
                 "tmp_2 = sort[0]\n"
                 "        tmp_3 = tmp_2 * 2\n        return (tmp_3,)\n",
                 {{"x", type},
                  {"tmp_0", type},
                  {"tmp_1", type},
                  {"sort", R"({"list": [)" + type + ", " + tensor("int64", "2, 3") + "]}"},
                  {"tmp_2", type},
                  {"tmp_3", type}});
}

TEST(Draft, TakesTheLargestPartAndSaysWhatIsLeft) {
  const Draft made = draft({with_a_sort()});
  EXPECT_TRUE(made.is_written);
  EXPECT_EQ(made.taken, 2U);
  EXPECT_EQ(made.of, 5U);
  ASSERT_THAT(made.left_out, SizeIs(3));
  EXPECT_EQ(made.left_out[0].statement, "sort = torch.sort(tmp_1)");
  EXPECT_EQ(made.left_out[0].why, "no kernel can be written for 'sort'");
  EXPECT_EQ(made.left_out[2].why, "not in the part that was taken");
}

TEST(Draft, LeavesTheKernelOpenThatItCannotWrite) {
  const Draft made = draft({with_a_sort()}, std::pair<size_t, size_t>{1, 4});
  EXPECT_FALSE(made.is_written);
  EXPECT_THAT(made.cpp, HasSubstr("#error \"the kernel of pass 'written' is not written yet"));
  EXPECT_THAT(made.cuda, HasSubstr("#error"));
  EXPECT_THAT(made.python, HasSubstr("def pattern(tmp_0):\n    tmp_1 = tmp_0 + 1\n"));
}

TEST(Draft, MatchesTheGraphsItWasWrittenFor) {
  std::vector<Example> examples = {scaled("a", "0.5", "float32", "2, 3"), scaled("b", "0.25", "float16", "7, 1")};
  const Draft made = draft(examples);
  const auto text = std::make_shared<const std::string>(made.python);
  const Result<ir::Graph> pattern = fx::parse_function("written.py", text, made.python.find("def pattern"), nullptr);
  ASSERT_TRUE(pattern.has_value());
  for (Example& graph : examples) EXPECT_THAT(rewrite::find_matches(*pattern, graph.graph)->matches, SizeIs(1));
}

TEST(Draft, RefusesAnOldValueThatIsLookedAtLater) {
  const std::string type = tensor("float32", "2, 3");
  const Draft made = draft({example("a", "x",
                                    "        tmp_0 = x * 2\n        tmp_1 = tmp_0[0]\n        tmp_0 += 1\n        "
                                    "tmp_2 = tmp_0\n        tmp_3 = tmp_1 * 3\n        return (tmp_2, tmp_3)\n",
                                    {{"x", type},
                                     {"tmp_0", type},
                                     {"tmp_1", tensor("float32", "3")},
                                     {"tmp_2", type},
                                     {"tmp_3", tensor("float32", "3")}})});
  bool refused = false;
  for (const LeftOut& left : made.left_out) refused = refused || left.why == "what it overwrites is looked at later";
  EXPECT_TRUE(refused);
}

TEST(Draft, RangePastTheEndIsBadInput) {
  Subject subject = merge({scaled("a", "0.5", "float32", "2, 3")});
  const Result<Draft> made = draft_pass(subject, "written", std::pair<size_t, size_t>{1, 3});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message, "range 1:3 of a graph of 2 operators");
}

}  // namespace
}  // namespace passnet::author
