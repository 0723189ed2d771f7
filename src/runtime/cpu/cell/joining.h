// Whether it pays to wake further threads of the cell for a program that one leads. Where a helper leads it is the first
// thread, which runs on the processor of whoever waits for it, and to change places with that takes as long as many a program;
// where the first one leads it is the helpers, whose processors may be asleep.
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
/// read is not in the caches yet, later ones seldom. What takes long is joined always. "Joined": with the further threads.
class Joining {
 public:
  /// Whether they are to join the next call of the program.
  bool joins(const ProgramShape& program) const;
  /// What a call took, with them or without.
  void note(const ProgramShape& program, bool joined, double us);

 private:
  struct Known {
    uint64_t calls = 0;
    std::optional<double> with_us, without_us;
  };
  std::map<ProgramShape, Known> known_;
};

}  // namespace passnet::runtime
