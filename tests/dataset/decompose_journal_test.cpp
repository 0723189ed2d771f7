// The journal of decomposed graphs: what is written is read back, what is damaged is done again.
#include "dataset/decompose_journal.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace passnet::dataset {
namespace {

JournalLine line_of(const std::string& graph) {
  JournalLine line;
  line.report.graph = graph;
  line.report.pieces["fusible"] = 3;
  line.report.written["fusible"] = 1;
  line.report.left_out["nothing uses its results"] = 1;
  line.report.seconds = 0.5;
  line.rules = "r";
  line.shape = "b1_r224";
  line.found = {{graphdir::Kind::Fusible, {2, 5}, 0, "aa", true}, {graphdir::Kind::Typical, {7, 9}, 4, "bb", false}};
  return line;
}

TEST(DecomposeJournal, LinesAreReadBack) {
  const auto lines = read_decompose_journal(dump(to_json(line_of("timm/resnet18/b1_r224"))) + "\n");
  ASSERT_EQ(lines.size(), 1u);
  const JournalLine& line = lines.at("timm/resnet18/b1_r224");
  EXPECT_EQ(dump(to_json(line)), dump(to_json(line_of("timm/resnet18/b1_r224"))));
  ASSERT_EQ(line.found.size(), 2u);
  EXPECT_EQ(line.found[1].kind, graphdir::Kind::Typical);
  EXPECT_EQ(line.found[1].range, (analysis::Range{7, 9}));
  EXPECT_EQ(line.found[1].number, 4u);
}

TEST(DecomposeJournal, TheLastLineOfAGraphCounts) {
  JournalLine later = line_of("a");
  later.found.clear();
  const auto lines = read_decompose_journal(dump(to_json(line_of("a"))) + "\n" + dump(to_json(later)) + "\n");
  EXPECT_TRUE(lines.at("a").found.empty());
}

TEST(DecomposeJournal, LinesOfAnotherFormAreSkipped) {
  const std::string text = R"({"graph": "b", "pieces": {}, "written": {}, "left_out": {}, "seconds": 1})"
                           "\n"
                           "no JSON\n" +
                           dump(to_json(line_of("a"))) + "\n";
  const auto lines = read_decompose_journal(text);
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines.contains("a"));
}

}  // namespace
}  // namespace passnet::dataset
