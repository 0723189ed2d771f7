// A bound of work that somebody else wrote: steps left, a deadline and an interruption. Who does the work charges here for
// all that it visits, and ends when that fails.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace passnet {

/// A kind of work and its most steps. A step is some ten nanoseconds: a value visited, copied or moved.
struct Work {
  std::string_view takes;  // begins messages: "the plan takes"
  int64_t most_steps = 0;
  std::string_view hint;
};

/// Limits of work besides its steps.
struct Ends {
  std::optional<std::chrono::milliseconds> time = {};  // from the budget's construction on
  const std::atomic<bool>* interrupted = nullptr;      // ends the work when it becomes true
};

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  /// work: lives as long as the budget.
  explicit Budget(const Work& work, const Ends& ends = {});
  /// A part of other work, which is charged for it too, and whose deadline and interruption end it.
  Budget(const Work& work, Budget& whole);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Errors: BadPass: more steps or time than there are. Resource "interrupted". From then on each call fails.
  Result<void> charge(size_t steps) {
    if (steps > ahead_) [[unlikely]]
      return settle(steps);
    ahead_ -= steps;
    return {};
  }
  /// Why no more work may be done. Errors: as those of charge, one that it gave.
  Result<void> check() const;
  /// Looks at the clock and the interruption at once, before a step that takes long; charge() looks now and then.
  Result<void> look() { return settle(0); }

  /// All that was charged so far.
  int64_t spent() const { return spent_ + static_cast<int64_t>(granted_ - ahead_); }
  /// Time that other work took, which has a limit of its own.
  void postpone(Clock::duration time);
  /// At least a millisecond, and at most `most`.
  std::chrono::milliseconds time_left(std::chrono::milliseconds most) const;

 private:
  Result<void> settle(size_t steps);
  std::optional<Error> why_over(size_t steps);

  const Work& work_;
  Budget* whole_ = nullptr;
  Ends ends_;
  Clock::time_point deadline_ = Clock::time_point::max();
  int64_t spent_ = 0;               // without what was granted last
  size_t granted_ = 0, ahead_ = 0;  // may be charged before the next look at the clock; what of it is left
  std::optional<Error> over_;
};

}  // namespace passnet
