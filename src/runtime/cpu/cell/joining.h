// Whether it pays to wake the cell's first thread for a program that a helper leads. It would share the work, but runs on
// the processor of whoever waits for it, and to change places with that takes as long as many a program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace passnet::runtime {

/// What a program looks like; those that are alike take about as long.
struct ProgramShape {
  uint64_t launches = 0;
  uint32_t kernel = 0;  // of the first launch
  int64_t tasks = 0;    // of the first launch
  auto operator<=>(const ProgramShape&) const = default;
};

/// Calls of a program are tried both ways, and again where they begin to take another time.
class Joining {
 public:
  /// Whether the first thread is to join the next call of the program.
  bool joins(const ProgramShape& program) const;
  /// What a call took, with the first thread or without.
  void note(const ProgramShape& program, bool joined, double us);

 private:
  struct Way {
    std::optional<double> us;
    double other_us = 0;  // the other way at the time when this one was tried; 0: it was not
  };
  struct Known {
    Way with, without;
  };
  std::map<ProgramShape, Known> known_;
};

}  // namespace passnet::runtime
