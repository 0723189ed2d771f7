#include "run/batch/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/processors.h"

namespace passnet::run {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

EvaluateOptions on_gpu(int gpu) {
  EvaluateOptions options;
  options.gpu = gpu;
  return options;
}

TEST(Slots, OfOneGpuShareIt) {
  Slots slots(on_gpu(1), {1, 3}, {});
  ASSERT_EQ(slots.size(), 3u);
  for (size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots.at(i).options().gpu, 1);
    EXPECT_NE(slots.at(i).options().slot, nullptr);
  }
  EXPECT_NE(slots.at(0).options().slot, slots.at(1).options().slot);
}

TEST(Slots, OfSeveralGpusTakeThemInTurn) {
  Slots slots(on_gpu(2), {2, 2}, {});
  std::vector<int> gpus;
  for (size_t i = 0; i < slots.size(); ++i) gpus.push_back(*slots.at(i).options().gpu);
  EXPECT_EQ(gpus, (std::vector<int>{2, 3, 2, 3}));
}

TEST(Slots, AloneOnItsGpuOrOnTheCpuNobodyWaits) {
  EXPECT_EQ(Slots(on_gpu(0), {2, 1}, {}).at(1).options().slot, nullptr);
  EXPECT_EQ(Slots({}, {}, {}).at(0).options().slot, nullptr);
}

TEST(Slots, AreMadeAnewWithTheSameOptions) {
  Slots slots(on_gpu(0), {1, 2}, {});
  slots.at(1).options().trials = 7;
  slots.renew(1);
  EXPECT_EQ(slots.at(1).options().trials, 7);
  EXPECT_NE(slots.at(1).options().slot, nullptr);
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
