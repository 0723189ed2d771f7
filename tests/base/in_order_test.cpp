#include "base/in_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

namespace passnet {
namespace {

auto count_to(int end) {
  return [next = 0, end]() mutable -> std::optional<int> { return next < end ? std::optional(next++) : std::nullopt; };
}

TEST(MapInOrder, HandsOnInTheOrderOfTheItems) {
  for (size_t threads : {1, 2, 8}) {
    int expected = 0;
    map_in_order(
        count_to(2000),
        [](int i) {
          if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i % 50));
          return std::to_string(i);
        },
        [&](const std::string& text) { EXPECT_EQ(text, std::to_string(expected++)); }, threads);
    EXPECT_EQ(expected, 2000);
  }
}

TEST(MapInOrder, OfNothing) {
  map_in_order(
      count_to(0), [](int i) { return i; }, [](int) { FAIL(); }, 4);
}

TEST(MapInOrder, KeepsFewResultsWaiting) {
  std::atomic<int> taken = 0, handed_on = 0, most = 0;
  map_in_order(
      [&, source = count_to(500)]() mutable {
        most = std::max(most.load(), taken.load() - handed_on.load());
        ++taken;
        return source();
      },
      [](int i) {
        if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return i;
      },
      [&](int) { ++handed_on; }, 2);
  EXPECT_EQ(handed_on, 500);
  EXPECT_LE(most, 40);
}

TEST(MapInOrder, WhatIsThrownComesOut) {
  const auto work = [](int i) { return i == 50 ? throw std::runtime_error("worker") : i; };
  EXPECT_THROW(map_in_order(
                   count_to(1000), work, [](int) {}, 3),
               std::runtime_error);
  EXPECT_THROW(map_in_order(
                   count_to(1000), [](int i) { return i; },
                   [](int i) {
                     if (i == 20) throw std::logic_error("sink");
                   },
                   3),
               std::logic_error);
}

}  // namespace
}  // namespace passnet
