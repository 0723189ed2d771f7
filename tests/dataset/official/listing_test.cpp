#include "dataset/official/listing.h"

#include <gtest/gtest.h>

#include "dataset/tree_fixture.h"

namespace passnet::dataset::official {
namespace {

std::string why(const std::string& line) {
  const auto listed = parse_listed(line);
  return listed ? "no error" : listed.error().message;
}

const std::string kTree = "graphs/hf_subgraphs_v2/fusible_subgraphs/";

TEST(OfficialListing, ReadsWhatAPathSays) {
  const auto listed = parse_listed(kTree + "bfloat16/3/samples/timm/a.b_c/_decomposed/a.b_c_start12_end15_3");
  ASSERT_TRUE(listed) << to_string(listed.error());
  EXPECT_EQ(listed->model, "samples/timm/a.b_c");
  EXPECT_EQ(listed->dtype, ir::DType::BFloat16);
  EXPECT_EQ(listed->variant, 3);
  EXPECT_EQ(listed->range, (analysis::Range{12, 15}));
}

TEST(OfficialListing, ModelsMayLieADirectoryDeeper) {
  const auto listed = parse_listed(kTree + "float32/9/samples/hf/google/bert/_decomposed/bert_start0_end2_0");
  ASSERT_TRUE(listed) << to_string(listed.error());
  EXPECT_EQ(listed->model, "samples/hf/google/bert");
  EXPECT_EQ(listed->variant, kCapturedVariant);
}

TEST(OfficialListing, SaysWhichPartOfAPathIsWrong) {
  EXPECT_EQ(why("graphs/float32/9/m/_decomposed/m_start0_end2_0"),
            "tree in 'graphs/float32/9/m/_decomposed/m_start0_end2_0': expected a directory 'fusible_subgraphs'");
  const std::string range = kTree + "float32/9/samples/m/_decomposed/m_start2";
  EXPECT_EQ(why(range), "range in '" + range + "': expected GRAPH/_decomposed/NAME_startS_endE_N at its end");
  const std::string dtype = kTree + "float64/9/samples/m/_decomposed/m_start0_end2_0";
  EXPECT_EQ(why(dtype), "element type in '" + dtype + "': expected float32, float16 or bfloat16");
  const std::string variant = kTree + "float32/10/samples/m/_decomposed/m_start0_end2_0";
  EXPECT_EQ(why(variant), "variant in '" + variant + "': expected a digit: 0 to 8, or 9 for the shapes as captured");
  const std::string empty = kTree + "float32/9/samples/m/_decomposed/m_start2_end2_0";
  EXPECT_EQ(why(empty), "range in '" + empty + "': expected a start before its end");
  EXPECT_EQ(why("../" + range), "path in '../" + range + "': expected one below the benchmark");
}

class OfficialTasks : public TreeTest {};

TEST_F(OfficialTasks, AreFoundBelowADirectoryUnderTheirPaths) {
  const std::string line = kTree + "float32/9/samples/s/m/_decomposed/m_start0_end2_0";
  write("v2/fusible_subgraphs/ab/cd/one/graph_list.txt", line + "\n");
  write("v2/fusible_subgraphs/ab/two/graph_list.txt", "# a comment\n" + line + "\n");
  const auto tasks = load_tasks({(root / "v2").string()});
  ASSERT_TRUE(tasks) << to_string(tasks.error());
  ASSERT_EQ(tasks->size(), 2u);
  EXPECT_EQ(tasks->at(0).id, "ab/cd/one");
  EXPECT_EQ(tasks->at(1).id, "ab/two");
  EXPECT_EQ(tasks->at(1).graphs.size(), 1u);
}

TEST_F(OfficialTasks, AListUnderAnotherNameIsATaskOfThatName) {
  write("lists/abc.txt", kTree + "float32/9/samples/s/m/_decomposed/m_start0_end2_0\n");
  const auto tasks = load_tasks({(root / "lists/abc.txt").string()});
  ASSERT_TRUE(tasks) << to_string(tasks.error());
  EXPECT_EQ(tasks->at(0).id, "abc");
}

TEST_F(OfficialTasks, ErrorsNameTheLine) {
  write("t/graph_list.txt", "\nnonsense\n");
  const auto tasks = load_tasks({root.string()});
  ASSERT_FALSE(tasks);
  EXPECT_EQ(to_string(tasks.error()),
            (root / "t/graph_list.txt").string() +
                ":2:1: error: tree in 'nonsense': expected a directory 'fusible_subgraphs'\n"
                "hint: graphs/…/fusible_subgraphs/DTYPE/VARIANT/samples/SOURCE/MODEL/_decomposed/NAME_startS_endE_N");
  const auto none = load_tasks({(root / "empty").string()});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "'" + (root / "empty").string() +
                "' does not exist, expected a directory with graph_list.txt files, or such a file");
}

}  // namespace
}  // namespace passnet::dataset::official
