#include "dataset/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace passnet::dataset {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;

std::vector<std::vector<std::string>> letters(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> sequences;
  for (const std::string& word : words) {
    sequences.emplace_back();
    for (const char letter : word) sequences.back().emplace_back(1, letter);
  }
  return sequences;
}

// The vector of the specification; it gives the rarities before they are brought to [0, 1].
TEST(Choose, TakesNewAndRareTransitionsFirst) {
  const auto sequences = letters({"abc", "ab", "cd", "abcd", "e", "ac"});
  std::vector<size_t> ranked = rank_sequences(sequences);
  ASSERT_EQ(ranked.size(), sequences.size());
  ranked.resize(3);
  EXPECT_THAT(ranked, ElementsAre(3, 5, 1));
  constexpr double kMost = 1.386544;
  EXPECT_THAT(rarities(sequences), ElementsAre(DoubleNear(0.145298 / kMost, 1e-6), DoubleNear(0.288598 / kMost, 1e-6),
                                               DoubleNear(0.001997 / kMost, 1e-6), DoubleNear(0.097531 / kMost, 1e-6),
                                               DoubleNear(0, 1e-6), DoubleNear(1, 1e-6)));
}

TEST(Choose, TakesTheEarlierOfEqualSequences) {
  EXPECT_THAT(rank_sequences(letters({"ab", "cd"})), ElementsAre(0, 1));
  EXPECT_THAT(rank_sequences(letters({})), ElementsAre());
  EXPECT_THAT(rarities(letters({"ab", "cd"})), Each(0));
}

}  // namespace
}  // namespace passnet::dataset
