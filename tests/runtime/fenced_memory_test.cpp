#include "runtime/cpu/fenced_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace passnet::runtime {
namespace {

TEST(FencedMemory, HoldsItsBytesAtAMultipleOf64) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{4096}, size_t{100000}}) {
    FencedMemory memory(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
    std::memset(memory.data(), 1, size);
    EXPECT_EQ(memory.broken_canary(), std::nullopt);
  }
}

TEST(FencedMemory, SaysHowFarOutsideAWriteWas) {
  FencedMemory after(100);
  after.data()[103] = std::byte{1};
  EXPECT_EQ(after.broken_canary(), 3);
  FencedMemory before(100);
  before.data()[-8] = std::byte{1};
  EXPECT_EQ(before.broken_canary(), -8);
}

TEST(FencedMemoryDeathTest, NoAccessSurvivesTheGuardPages) {
  FencedMemory memory(128);
  EXPECT_DEATH({ memory.data()[128] = std::byte{1}; }, "");
  EXPECT_DEATH({ memory.data()[-3 * 4096] = std::byte{1}; }, "");
}

}  // namespace
}  // namespace passnet::runtime
