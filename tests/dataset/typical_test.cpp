#include "dataset/pieces/typical.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

namespace passnet::dataset {
namespace {

// Sequences as words; of each its ranges as "(start,end)(start,end);".
std::string ranges(const std::vector<std::string>& texts, const TypicalOptions& options) {
  std::map<std::string, uint32_t> numbers;
  std::vector<std::vector<uint32_t>> sequences;
  for (const std::string& text : texts) {
    std::istringstream words(text);
    sequences.emplace_back();
    for (std::string word; words >> word;)
      sequences.back().push_back(numbers.try_emplace(word, numbers.size()).first->second);
  }
  std::string out;
  for (const std::vector<analysis::Range>& of_one : typical_ranges(sequences, options)) {
    for (const analysis::Range& range : of_one) out += fmt::format("({},{})", range.start, range.end);
    out += ";";
  }
  return out;
}

const std::string kBlock = " conv2d batch_norm relu conv2d batch_norm relu iadd relu";
const std::string kTwoBlocks = "cat" + kBlock + kBlock + " mean linear";

// The vectors of the specification.
TEST(TypicalRanges, AreRepeatedPatternsBelowTheGreatestLength) {
  EXPECT_EQ(ranges({kTwoBlocks}, {10, 10, 4, 8}), ";");
  EXPECT_EQ(ranges({kTwoBlocks}, {10, 10, 4, 64}), "(0,19);");
  EXPECT_EQ(ranges({kTwoBlocks}, {10, 10, 4, 9}), "(1,9)(9,17);");
}

TEST(TypicalRanges, GiveASmallGraphAsAWhole) {
  EXPECT_EQ(ranges({kTwoBlocks, "a b c d e f"}, {10, 10, 4, 8}), ";(0,6);");
}

TEST(TypicalRanges, AreFoundAcrossGraphs) {
  // (3 4 5) first, then what repeats of that; the last graph is longer than the greatest length and falls
  // into its parts.
  EXPECT_EQ(ranges({"3 4 5", "3 4 5 6", "3 4 5 6 7"}, {8, 1, 2, 4}), "(0,3);(0,3);(0,3);");
  EXPECT_EQ(ranges({"3 4 5", "3 4 5 6", "3 4 5 6 7"}, {8, 1, 2, 5}), "(0,3);(0,4);(0,4);");
}

TEST(TypicalRanges, HaveTwoOperatorsAtLeast) {
  EXPECT_EQ(ranges({"a", "b"}, {10, 10, 1, 8}), ";;");
  EXPECT_EQ(ranges({"", "a b"}, {10, 10, 1, 8}), ";(0,2);");
  EXPECT_EQ(ranges({}, {}), "");
}

TEST(TypicalRanges, OfALongRunOfOneOperatorAreDisjoint) {
  std::string run;
  for (int i = 0; i < 40; ++i) run += " a";
  const std::string found = ranges({run}, {8, 3, 2, 9});
  EXPECT_EQ(found.substr(0, 5), "(0,8)") << found;
}

}  // namespace
}  // namespace passnet::dataset
