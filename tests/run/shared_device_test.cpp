#include "run/worker/shared_device.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace passnet::run {
namespace {

using namespace std::chrono_literals;

/// Whether `done` does not come true of itself: nobody lets it.
bool waits(const std::future<void>& done) { return done.wait_for(50ms) == std::future_status::timeout; }

TEST(SharedDevice, IsForAllWhoComputeOrForOneWhoIsTimed) {
  SharedDevice device(6);
  std::atomic<int> computing = 0, timed = 0, wrong = 0;
  const auto evaluate = [&] {
    DeviceSlot slot(device);
    for (int i = 0; i < 200; ++i) {
      {
        const DeviceSlot::Use use = slot.computing();
        ++computing;
        if (timed != 0) ++wrong;
        --computing;
      }
      const DeviceSlot::Use use = slot.timing();
      if (++timed != 1 || computing != 0) ++wrong;
      --timed;
    }
  };
  {
    std::vector<std::jthread> slots;
    for (int i = 0; i < 6; ++i) slots.emplace_back(evaluate);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(SharedDevice, LetsThoseComputeWhoWaitedBeforeItTimesAgain) {
  SharedDevice device(3);
  DeviceSlot first(device), second(device), third(device);
  std::optional<DeviceSlot::Use> timed(first.timing());
  auto computes = std::async(std::launch::async, [&] { const auto use = second.computing(); });
  EXPECT_TRUE(waits(computes));
  auto times = std::async(std::launch::async, [&] { const auto use = third.timing(); });
  EXPECT_TRUE(waits(times));
  timed.reset();
  computes.get();
  times.get();
}

TEST(SharedDevice, DoesNotTimeBesideOneThatComputes) {
  SharedDevice device(3);
  DeviceSlot first(device), second(device), third(device);
  std::optional<DeviceSlot::Use> computes(first.computing());
  { const auto beside = third.computing(); }
  auto times = std::async(std::launch::async, [&] { const auto use = second.timing(); });
  EXPECT_TRUE(waits(times));
  computes.reset();
  times.get();
}

TEST(SharedDevice, TimesThoseWhoWaitedOneAfterTheOther) {
  SharedDevice device(4);
  DeviceSlot first(device), second(device), third(device), fourth(device);
  std::optional<DeviceSlot::Use> computes(first.computing());
  std::atomic<int> timed = 0;
  const auto time = [&](DeviceSlot& slot) {
    return std::async(std::launch::async, [&] {
      const auto use = slot.timing();
      ++timed;
    });
  };
  auto one = time(second);
  EXPECT_TRUE(waits(one));
  {
    const auto beside = fourth.computing();  // one that waits is no reason to stop
  }
  auto other = time(third);
  EXPECT_TRUE(waits(other));
  auto later = std::async(std::launch::async, [&] {
    const auto use = fourth.computing();
    return timed.load();
  });
  EXPECT_EQ(later.wait_for(50ms), std::future_status::timeout);
  computes.reset();
  EXPECT_EQ(later.get(), 2);
}

TEST(SharedDevice, AUseWithinAnotherIsPartOfIt) {
  SharedDevice device(3);
  DeviceSlot slot(device), other(device);
  {
    const auto timed = slot.timing();
    const auto again = slot.timing();
    const auto computes = slot.computing();
  }
  {
    const auto computes = slot.computing();
    const auto again = slot.computing();
  }
  const auto free = other.timing();
}

TEST(SharedDevice, WithoutOneNobodyWaits) {
  const DeviceSlot::Use none = computing(nullptr), neither = timing(nullptr);
}

}  // namespace
}  // namespace passnet::run
