// Whether it pays to wake the cell's first thread for a program that a helper leads. It would share the work, but runs on
// the processor of whoever waits for it, and to change places with that takes as long as many a program.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

namespace passnet::runtime {

/// What a program looks like; those that are alike take about as long.
struct ProgramShape {
  uint64_t launches = 0;
  uint32_t kernel = 0;  // of the first launch
  int64_t tasks = 0;    // of the first launch
  auto operator<=>(const ProgramShape&) const = default;
};

/// Calls of a program go the way that is the shorter one so far, and some the other way: the first ones often, as what they
/// read is not in the caches yet, later ones seldom. What takes long is joined always.
class Joining {
 public:
  /// Whether the first thread is to join the next call of the program.
  bool joins(const ProgramShape& program) const;
  /// What a call took, with the first thread or without.
  void note(const ProgramShape& program, bool joined, double us);

 private:
  struct Known {
    uint64_t calls = 0;
    std::optional<double> with_us, without_us;
  };
  std::map<ProgramShape, Known> known_;
};

}  // namespace passnet::runtime
