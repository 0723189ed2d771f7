#include "runtime/cpu/cell/joining.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace passnet::runtime {
namespace {

/// A machine on which it takes `changing_us` until the first thread runs.
struct Machine {
  uint32_t helpers;
  double changing_us;

  double call_us(double without_us, bool joined) const {
    const double shared = without_us - changing_us;
    if (!joined) return without_us;
    return shared <= 0 ? changing_us : changing_us + shared * helpers / (helpers + 1);
  }
};

/// Calls a program that takes so long without the first thread. Returns: whether it joined most of the last calls.
bool call(Joining& joining, const Machine& machine, const ProgramShape& program, double without_us) {
  constexpr int kCalls = 200, kLast = 50;
  int joined = 0;
  for (int i = 0; i < kCalls; ++i) {
    const bool joins = joining.joins(program);
    joining.note(program, joins, machine.call_us(without_us, joins));
    if (joins && i >= kCalls - kLast) ++joined;
  }
  EXPECT_TRUE(joined <= kLast / 10 || joined >= kLast - kLast / 10) << joined;
  return joined > kLast / 2;
}

const ProgramShape kShort{1, 0, 2}, kLong{1, 0, 16};

TEST(Joining, IsNotTriedWithoutKnowingTheProgram) { EXPECT_FALSE(Joining().joins(kShort)); }

TEST(Joining, PaysForWhatTakesLongAgainstChangingPlaces) {
  for (const double changing_us : {3.0, 10.0, 25.0}) {
    for (const uint32_t helpers : {1U, 3U}) {
      const Machine machine{helpers, changing_us};
      Joining joining;
      EXPECT_FALSE(call(joining, machine, kShort, 0.9 * changing_us)) << changing_us << " us, " << helpers;
      EXPECT_TRUE(call(joining, machine, kLong, 10 * changing_us)) << changing_us << " us, " << helpers;
      EXPECT_FALSE(call(joining, machine, kShort, 0.9 * changing_us)) << changing_us << " us, " << helpers;
    }
  }
}

TEST(Joining, IsFoundNotToPayOnceItWasTried) {
  const Machine machine{1, 40};
  Joining joining;
  EXPECT_FALSE(call(joining, machine, kShort, 30));
}

TEST(Joining, FollowsAProgramThatBecomesShorterOrLonger) {
  const Machine machine{1, 20};
  Joining joining;
  EXPECT_TRUE(call(joining, machine, kLong, 300));
  EXPECT_FALSE(call(joining, machine, kLong, 12));
  EXPECT_TRUE(call(joining, machine, kLong, 300));
}

TEST(Joining, IsTriedNoOtherWayByWhatTakesLong) {
  const Machine machine{1, 20};
  Joining joining;
  joining.note(kLong, false, machine.call_us(400, false));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(joining.joins(kLong));
    joining.note(kLong, true, machine.call_us(400, true));
  }
}

TEST(Joining, IsNotTakenForThatTheFirstCallsTookLong) {
  const Machine machine{1, 15};
  Joining joining;
  for (const double us : {90.0, 40.0, 12.0}) {
    const bool joins = joining.joins(kShort);
    joining.note(kShort, joins, machine.call_us(us, joins));
  }
  EXPECT_FALSE(call(joining, machine, kShort, 5.5));
}

TEST(Joining, IsNotTakenForACallThatWasDisturbed) {
  const Machine machine{1, 20};
  Joining joining;
  call(joining, machine, kShort, 12);
  joining.note(kShort, false, 4000);
  EXPECT_FALSE(call(joining, machine, kShort, 12));
}

}  // namespace
}  // namespace passnet::runtime
