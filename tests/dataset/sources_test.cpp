#include "dataset/pieces/sources.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace passnet::dataset {
namespace {

TEST(Sources, AreSorted) {
  const Sources sources{{"b", {{3, 4}, {0, 2}, {3, 4}}}, {"a", {{1, 2}}}};
  EXPECT_EQ(to_json(sources).dump(), R"({"a":[[1,2]],"b":[[0,2],[3,4]]})");
}

std::string by_path(const std::string& path) {
  const auto sources = sources_by_path(path);
  return sources ? to_json(*sources).dump() : "";
}

TEST(Sources, OfAPathAreItsRange) {
  EXPECT_EQ(by_path("samples/timm/x/_decomposed/x_start0_end15_2"), R"({"samples/timm/x":[[0,15]]})");
  EXPECT_EQ(by_path("x/_decomposed/a_start_end_start7_end9"), R"({"x":[[7,9]]})");
  EXPECT_EQ(by_path("x/_decomposed/x_3"), "");
  EXPECT_EQ(by_path("x/_decomposed/x_start1_end2b"), "");
  EXPECT_EQ(by_path("x/x_start1_end2_0"), "");
}

}  // namespace
}  // namespace passnet::dataset
