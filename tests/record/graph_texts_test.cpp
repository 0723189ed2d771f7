#include "record/graph_texts.h"

#include <gtest/gtest.h>

namespace passnet::record {
namespace {

TEST(GraphTextsDirectory, IsNamedAfterTheGraph) {
  EXPECT_EQ(graph_texts_directory("out/s", "b1_float32"), "out/s/graphs/b1_float32");
  EXPECT_EQ(graph_texts_directory("out/s", "vit/float32/8x197"), "out/s/graphs/vit/float32/8x197");
}

TEST(GraphTextsDirectory, NeverLeavesTheOutput) {
  const std::string lengthy(300, 'x');
  for (const std::string& name :
       {std::string("/etc/passwd"), std::string("../x"), std::string("a/../../x"), std::string("."), std::string(),
        std::string("a//b"), std::string("a\0b", 3), lengthy}) {
    const std::filesystem::path directory = graph_texts_directory("out/s", name);
    EXPECT_EQ(directory.parent_path(), "out/s/graphs") << name;
    EXPECT_EQ(directory.filename().string().size(), 16u) << name;
  }
  EXPECT_NE(graph_texts_directory("o", "../a"), graph_texts_directory("o", "../b"));
}

}  // namespace
}  // namespace passnet::record
