#include "dataset/dedup.h"

#include <gmock/gmock.h>

#include "base/file/line_file.h"
#include "dataset/tree_fixture.h"

namespace passnet::dataset {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class Dedup : public TreeTest {
 protected:
  Result<DedupReport> run(const std::vector<std::string>& trees, DedupOptions options = {}) const {
    std::vector<std::string> paths;
    for (const std::string& tree : trees) paths.push_back((root / tree).string());
    return deduplicate(paths, root / "out", options, [](const std::string&) {});
  }
  DedupReport report(const std::vector<std::string>& trees, DedupOptions options = {}) const {
    Result<DedupReport> done = run(trees, options);
    EXPECT_TRUE(done) << to_string(done.error());
    return done.value_or(DedupReport());
  }
  std::string failure(const std::vector<std::string>& trees, DedupOptions options = {}) const {
    const Result<DedupReport> done = run(trees, options);
    EXPECT_FALSE(done);
    return done ? "" : to_string(done.error());
  }
  size_t journal_lines() const {
    const std::string text = read("out/dedup.jsonl");
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }
};

TEST_F(Dedup, KeepsTheFirstOfEqualGraphsAndNamesTheRangesOfAll) {
  write_graph("x/m/_decomposed/m_start3_end4_0", kRelu);
  write("x/m/_decomposed/m_start3_end4_0/notes.bin", std::string_view("\0\1", 2));
  write_graph("x/n/_decomposed/n_start9_end10_2", kReluMethod);
  write_graph("y/m/_decomposed/m_start5_end6_1", kRelu);
  write("y/m/_decomposed/m_start5_end6_1/subgraph_sources.json", "{\"m\": [[5, 6], [3, 4]], \"k\": [[0, 1]]}");
  const DedupReport done = report({"x", "y"});
  EXPECT_EQ(done.graphs, 3u);
  EXPECT_EQ(done.added, 1u);
  EXPECT_EQ(done.duplicates, 2u);
  EXPECT_EQ(read("out/m/_decomposed/m_start3_end4_0/model.py"), read("x/m/_decomposed/m_start3_end4_0/model.py"));
  EXPECT_EQ(read("out/m/_decomposed/m_start3_end4_0/notes.bin"), std::string("\0\1", 2));
  EXPECT_EQ(read("out/m/_decomposed/m_start3_end4_0/subgraph_sources.json"),
            "{\n    \"k\": [\n        [\n            0,\n            1\n        ]\n    ],\n    \"m\": [\n    "
            "    [\n"
            "            3,\n            4\n        ],\n        [\n            5,\n            6\n        "
            "]\n    ],\n"
            "    \"n\": [\n        [\n            9,\n            10\n        ]\n    ]\n}\n");
  EXPECT_FALSE(exists("out/n"));
  EXPECT_FALSE(exists("out/.partial"));
  EXPECT_FALSE(exists("x/m/_decomposed/m_start3_end4_0/subgraph_sources.json")) << "an input was changed";
  EXPECT_EQ(journal_lines(), 2u);
  EXPECT_THAT(read("out/dedup.jsonl"),
              HasSubstr("\"graph\":\"n/_decomposed/n_start9_end10_2\",\"kept\":\"m/_decomposed/m_start3_end4_0\""));
}

TEST_F(Dedup, CopiesAGraphWithoutEqualsAsItIs) {
  write_graph("x/a", kRelu);
  write_graph("x/b", kTanh);
  write("x/b/subgraph_sources.json", "{ \"b\" : [[1,2]] }");
  EXPECT_EQ(report({"x"}).added, 2u);
  EXPECT_FALSE(exists("out/a/subgraph_sources.json"));
  EXPECT_EQ(read("out/b/subgraph_sources.json"), "{ \"b\" : [[1,2]] }");
  EXPECT_EQ(read("out/dedup.jsonl"), "");
}

TEST_F(Dedup, TellsShapesAndElementTypesApart) {
  write_graph("x/a", kRelu, "[4, 8]");
  write_graph("x/b", kRelu, "[8, 4]");
  EXPECT_EQ(report({"x"}).added, 2u);
}

TEST_F(Dedup, ByHashComparesTheTextOfTheHashAlone) {
  write_graph("x/a", kRelu, "[4, 8]");
  write_graph("x/b", kRelu, "[8, 4]");
  write_graph("x/c", kReluMethod);
  write_graph("x/d", kTanh);
  std::filesystem::remove(root / "x/d/graph_hash.txt");
  const DedupReport done = report({"x"}, {EqualBy::Hash, {}});
  EXPECT_EQ(done.added, 2u);
  EXPECT_EQ(done.duplicates, 1u);
  EXPECT_THAT(done.failed, ElementsAre(HasSubstr("d: ")));
  EXPECT_TRUE(exists("out/a") && exists("out/c") && !exists("out/d"));
  EXPECT_THAT(failure({"x"}), HasSubstr("was made by \"hash\", found --by identity"));
}

TEST_F(Dedup, ASecondRunAddsWhatIsNewAndNothingElse) {
  write_graph("x/a", kRelu);
  write_graph("x/b", kReluMethod);
  report({"x"});
  const std::string before = read("out/dedup.jsonl") + read("out/a/subgraph_sources.json");
  DedupReport again = report({"x"});
  EXPECT_EQ(again.there, 2u);
  EXPECT_EQ(again.added + again.duplicates, 0u);
  EXPECT_EQ(read("out/dedup.jsonl") + read("out/a/subgraph_sources.json"), before);
  write_graph("y/c", kTanh);
  write_graph("y/d", kRelu);
  again = report({"x", "y"});
  EXPECT_EQ(again.there, 2u);
  EXPECT_EQ(again.added, 1u);
  EXPECT_EQ(again.duplicates, 1u);
  EXPECT_EQ(journal_lines(), 2u);
  EXPECT_THAT(read("out/a/subgraph_sources.json"), HasSubstr("\"d\""));
}

TEST_F(Dedup, AnEqualGraphOfOnePathInATreeThatCameLaterIsADuplicate) {
  write_graph("x/a", kRelu);
  write_graph("y/a", kRelu);
  report({"x"});
  EXPECT_EQ(report({"y"}).duplicates, 1u);
  EXPECT_EQ(journal_lines(), 1u);
  EXPECT_EQ(report({"x", "y"}).there, 2u);
}

TEST_F(Dedup, GoesOnWhereARunWasStopped) {
  write_graph("x/a", kRelu);
  write_graph("x/b", kTanh);
  report({"x"});
  std::filesystem::remove_all(root / "out/b");
  std::filesystem::remove(root / "out/dedup.jsonl");
  write("out/.partial/7/model.py", "half");
  const DedupReport done = report({"x"});
  EXPECT_EQ(done.added, 1u);
  EXPECT_EQ(done.there, 1u);
  EXPECT_TRUE(exists("out/b/model.py") && exists("out/dedup.jsonl") && !exists("out/.partial"));
}

TEST_F(Dedup, ARunStoppedBeforeItCopiedLeavesAnOutputThatAnyRuleMayUse) {
  write_graph("x/a", kRelu);
  std::atomic<bool> interrupted = true;
  EXPECT_THAT(failure({"x"}, {EqualBy::Identity, {1, &interrupted}}), HasSubstr("interrupted"));
  EXPECT_EQ(report({"x"}, {EqualBy::Hash, {}}).added, 1u);
}

TEST_F(Dedup, IsRefusedWhileAnotherRunWritesToItsOutput) {
  write_graph("x/a", kRelu);
  const Result<LineFile> held = LineFile::open(root / "out/dedup.jsonl", true);
  ASSERT_TRUE(held);
  EXPECT_THAT(failure({"x"}), HasSubstr("is being written by another run"));
}

TEST_F(Dedup, UnequalGraphsOfOnePathAreBothKept) {
  write_graph("x/a", kRelu);
  write_graph("y/a", kTanh);
  const DedupReport done = report({"x", "y"});
  EXPECT_EQ(done.added, 2u);
  EXPECT_EQ(done.renamed, 1u);
  EXPECT_EQ(read("out/a/model.py"), read("x/a/model.py"));
  EXPECT_EQ(read("out/a_2/model.py"), read("y/a/model.py"));
  EXPECT_THAT(read("out/dedup.jsonl"), HasSubstr("\"kept\":\"a_2\",\"renamed\":true"));
  EXPECT_EQ(report({"x", "y"}).there, 2u);
}

TEST_F(Dedup, AGraphIsNotPutIntoAnothersDirectoryNorAroundIt) {
  write_graph("x/a", kRelu);
  write_graph("x/b/c", kTanh);
  write_graph("y/a/inner", kReluMethod);
  write_graph("y/a/deep/inner", "b = torch.exp(a)\nreturn (b,)");
  write_graph("z/b", "b = torch.log(a)\nreturn (b,)");
  for (const size_t added : {size_t{4}, size_t{0}}) EXPECT_EQ(report({"x", "y", "z"}).added, added);
  for (const char* place : {"out/a", "out/b/c", "out/a_2/deep/inner", "out/b_2"}) EXPECT_TRUE(exists(place)) << place;
}

TEST_F(Dedup, LeavesOutWhatCannotBeRead) {
  write_graph("x/a", kRelu);
  write_graph("x/b", "b = torch.relu(a\nreturn (b,)");
  write_graph("x/c", kTanh);
  write("x/c/subgraph_sources.json", "{\"m\": [3, 4]}");
  const DedupReport done = report({"x"});
  EXPECT_EQ(done.added, 1u);
  ASSERT_THAT(done.failed, SizeIs(2));
  EXPECT_THAT(done.failed[1], HasSubstr("found 3, expected {\"GRAPH\": [[START, END], …], …}"));
}

TEST_F(Dedup, RefusesPlacesThatWouldChangeSomethingElse) {
  write_graph("x/a", kRelu);
  write_graph("x/sub/b", kTanh);
  write("out/other.txt", "");
  EXPECT_THAT(failure({"x"}), HasSubstr("holds something that this command did not make"));
  std::filesystem::remove(root / "out/other.txt");
  EXPECT_THAT(failure({"."}), HasSubstr("lie within each other"));
  EXPECT_THAT(failure({"x", "x/sub"}), HasSubstr("lie within each other"));
  EXPECT_THAT(failure({"nothing"}), HasSubstr("is no directory"));
  std::atomic<bool> interrupted = true;
  EXPECT_THAT(failure({"x"}, {EqualBy::Identity, {1, &interrupted}}), HasSubstr("interrupted"));
  EXPECT_FALSE(exists("out/a"));
}

}  // namespace
}  // namespace passnet::dataset
