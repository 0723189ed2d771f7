// Turns to build what several threads want.
#include "pass/kernel/build_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace passnet::pass {
namespace {

using namespace std::chrono_literals;

TEST(BuildTurn, IsOfOneThreadPerKey) {
  std::optional<BuildTurn> first(std::in_place, std::vector<std::string>{"a", "b"});
  const BuildTurn other({"c"});  // nobody has it
  std::atomic<bool> built = false;
  std::thread second([&] {
    const BuildTurn turn({"b", "d"});
    built = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(built);
  { const BuildTurn free({"d"}); }  // who waits has nothing yet
  first.reset();
  second.join();
  EXPECT_TRUE(built);
}

TEST(BuildTurn, OfTheSameKeyTwiceIsOne) {
  { const BuildTurn turn({"a", "a"}); }
  const BuildTurn again({"a"});
}

}  // namespace
}  // namespace passnet::pass
