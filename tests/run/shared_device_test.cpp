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
    DeviceLane lane(device);
    for (int i = 0; i < 200; ++i) {
      {
        const DeviceLane::Use use = lane.computing();
        ++computing;
        if (timed != 0) ++wrong;
        --computing;
      }
      const DeviceLane::Use use = lane.timing();
      if (++timed != 1 || computing != 0) ++wrong;
      --timed;
    }
  };
  {
    std::vector<std::jthread> lanes;
    for (int i = 0; i < 6; ++i) lanes.emplace_back(evaluate);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(SharedDevice, LetsThoseComputeWhoWaitedBeforeItTimesAgain) {
  SharedDevice device(3);
  DeviceLane first(device), second(device), third(device);
  std::optional<DeviceLane::Use> timed(first.timing());
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
  DeviceLane first(device), second(device), third(device);
  std::optional<DeviceLane::Use> computes(first.computing());
  { const auto beside = third.computing(); }
  auto times = std::async(std::launch::async, [&] { const auto use = second.timing(); });
  EXPECT_TRUE(waits(times));
  computes.reset();
  times.get();
}

TEST(SharedDevice, TimesThoseWhoWaitedOneAfterTheOther) {
  SharedDevice device(4);
  DeviceLane first(device), second(device), third(device), fourth(device);
  std::optional<DeviceLane::Use> computes(first.computing());
  std::atomic<int> timed = 0;
  const auto time = [&](DeviceLane& lane) {
    return std::async(std::launch::async, [&] {
      const auto use = lane.timing();
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
  DeviceLane lane(device), other(device);
  {
    const auto timed = lane.timing();
    const auto again = lane.timing();
    const auto computes = lane.computing();
  }
  {
    const auto computes = lane.computing();
    const auto again = lane.computing();
  }
  const auto free = other.timing();
}

TEST(SharedDevice, WithoutOneNobodyWaits) {
  const DeviceLane::Use none = computing(nullptr), neither = timing(nullptr);
}

}  // namespace
}  // namespace passnet::run
