#include "run/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/worker/processors.h"

namespace passnet::run {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

EvaluateOptions on_gpu(int gpu) {
  EvaluateOptions options;
  options.gpu = gpu;
  return options;
}

TEST(Lanes, OfOneGpuShareIt) {
  Lanes lanes(on_gpu(1), {1, 3}, {});
  ASSERT_EQ(lanes.size(), 3u);
  for (size_t i = 0; i < lanes.size(); ++i) {
    EXPECT_EQ(lanes.at(i).options().gpu, 1);
    EXPECT_NE(lanes.at(i).options().lane, nullptr);
  }
  EXPECT_NE(lanes.at(0).options().lane, lanes.at(1).options().lane);
}

TEST(Lanes, OfSeveralGpusTakeThemInTurn) {
  Lanes lanes(on_gpu(2), {2, 2}, {});
  std::vector<int> gpus;
  for (size_t i = 0; i < lanes.size(); ++i) gpus.push_back(*lanes.at(i).options().gpu);
  EXPECT_EQ(gpus, (std::vector<int>{2, 3, 2, 3}));
}

TEST(Lanes, AloneOnItsGpuOrOnTheCpuNobodyWaits) {
  EXPECT_EQ(Lanes(on_gpu(0), {2, 1}, {}).at(1).options().lane, nullptr);
  EXPECT_EQ(Lanes({}, {}, {}).at(0).options().lane, nullptr);
}

TEST(Lanes, AreMadeAnewWithTheSameOptions) {
  Lanes lanes(on_gpu(0), {1, 2}, {});
  lanes.at(1).options().trials = 7;
  lanes.renew(1);
  EXPECT_EQ(lanes.at(1).options().trials, 7);
  EXPECT_NE(lanes.at(1).options().lane, nullptr);
}

TEST(OnProcessors, HoldsForAsLongAsItLives) {
  const std::vector<int> before = available_processors();
  ASSERT_THAT(before, Not(IsEmpty()));
  {
    const OnProcessors last({before.back()});
    EXPECT_EQ(available_processors(), std::vector<int>{before.back()});
    const OnProcessors anywhere({});
    EXPECT_EQ(available_processors(), std::vector<int>{before.back()});
  }
  EXPECT_EQ(available_processors(), before);
}

}  // namespace
}  // namespace passnet::run
