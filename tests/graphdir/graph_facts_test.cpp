#include "graphdir/graph_facts.h"

#include <gtest/gtest.h>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::graphdir {
namespace {

class Kinds : public testing::Test {
 protected:
  /// The kind of a graph at `path` below a sample. facts: empty: there is no file.
  std::string kind(const std::string& path, const std::string& facts) {
    const std::filesystem::path graph = scratch_.path / "sample" / path;
    std::filesystem::create_directories(graph);
    if (!facts.empty()) {
      EXPECT_TRUE(write_file(graph / "graph_net.json", std::string_view(facts)));
    }
    return kind_for_record(scratch_.path / "sample", graph);
  }
  const ScratchDirectory scratch_;
};

TEST_F(Kinds, AreNamedByFactsOrDirectories) {
  EXPECT_EQ(kind("a", R"({"kind": "typical"})"), "typical");
  EXPECT_EQ(kind("fusible_subgraphs/float32/b", R"({"source": "timm"})"), "fusible");
  EXPECT_EQ(kind("c", R"({"start": 3, "end": 5})"), "subgraph");
  EXPECT_EQ(kind("d", R"({"source": "timm"})"), "full");
}

TEST_F(Kinds, AreNotGuessedForARecord) {
  EXPECT_EQ(kind("a", ""), "");
  EXPECT_EQ(kind("b", R"({"kind": "<script>"})"), "");
  EXPECT_EQ(kind("c", "[1"), "");
}

}  // namespace
}  // namespace passnet::graphdir
