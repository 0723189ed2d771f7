#include "runtime/device/counter.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <csignal>

namespace passnet::runtime {
namespace {

int counter_state() {
  int state = 0;
  return ::prctl(PR_GET_TSC, &state, 0, 0, 0) == 0 ? state : -1;
}

TEST(CounterOff, TakesTheCounterFromThisThreadWhileItLives) {
  if (counter_state() != PR_TSC_ENABLE) GTEST_SKIP() << "this system has no such switch";
  {
    const CounterOff off(true);
    EXPECT_EQ(counter_state(), PR_TSC_SIGSEGV);
  }
  EXPECT_EQ(counter_state(), PR_TSC_ENABLE);
}

TEST(CounterOff, UnwantedChangesNothing) {
  const int before = counter_state();
  const CounterOff off(false);
  EXPECT_EQ(counter_state(), before);
}

TEST(CounterOff, WithinAnotherLeavesItToThat) {
  if (counter_state() != PR_TSC_ENABLE) GTEST_SKIP() << "this system has no such switch";
  const CounterOff outer(true);
  { const CounterOff inner(true); }
  EXPECT_EQ(counter_state(), PR_TSC_SIGSEGV);
}

TEST(CounterOff, GivesItBackToWhatReadsIt) {
  const CounterOff off(true);
  EXPECT_NE(__builtin_ia32_rdtsc(), 0);
  EXPECT_NE(counter_state(), PR_TSC_SIGSEGV);
}

TEST(CounterOff, LeavesOtherFaultsWhatTheyAre) {
  const auto read_nowhere = [] {
    const CounterOff off(true);
    (void)*reinterpret_cast<volatile int*>(8);
  };
  EXPECT_EXIT(read_nowhere(), testing::KilledBySignal(SIGSEGV), "");
}

TEST(CounterOff, LeavesAClockThatAgreesWithTheOther) {
  const auto before = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point first, second;
  {
    const CounterOff off(true);
    first = now();
    second = now();
  }
  EXPECT_LE(before, first);
  EXPECT_LE(first, second);
  EXPECT_LE(second, std::chrono::steady_clock::now());
}

}  // namespace
}  // namespace passnet::runtime
