// The clock of calls, and the time-stamp counter that it is usually read from.
#pragma once

#include <chrono>

namespace passnet::runtime {

/// While it lives, the calling thread has no time-stamp counter, as threads of a cell never have: a processor that changes
/// between the two then need not switch the counter off and on, which is trapped on most virtual machines and takes more
/// than all else that a change takes. now() does without; what reads the counter all the same, as std::chrono does, is given
/// it back by a handler of SIGSEGV, and goes on.
class CounterOff {
 public:
  /// wanted: false leaves everything as it is.
  explicit CounterOff(bool wanted);
  ~CounterOff();
  CounterOff(const CounterOff&) = delete;
  CounterOff& operator=(const CounterOff&) = delete;

 private:
  bool is_off_;
};

/// The steady clock, for a thread with or without the counter.
std::chrono::steady_clock::time_point now();

}  // namespace passnet::runtime
