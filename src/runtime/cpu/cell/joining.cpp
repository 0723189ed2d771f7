#include "runtime/cpu/cell/joining.h"

#include <algorithm>
#include <bit>

namespace passnet::runtime {

namespace {

/// No machine changes places in less.
constexpr double kLeastTriedUs = 5;
/// What is won must be more than calls of one program differ by.
constexpr double kLeastGain = 1.05;
/// By how much one call raises what is known: whatever disturbs a call makes it longer.
constexpr double kMostRise = 1.25;
/// Against this it is little to change places.
constexpr double kLongUs = 100;
/// Of so many calls one goes the other way, after the first few.
constexpr uint64_t kTriedOf = 64;

bool tries_other_way(uint64_t calls) { return calls % kTriedOf == 0 || std::has_single_bit(calls); }

}  // namespace

bool Joining::joins(const ProgramShape& program) const {
  const auto found = known_.find(program);
  if (found == known_.end()) return false;
  const Known& known = found->second;
  if (!known.without_us || *known.without_us <= kLeastTriedUs) return false;
  if (std::min(*known.without_us, known.with_us.value_or(*known.without_us)) > kLongUs) return true;
  const bool pays = !known.with_us || kLeastGain * *known.with_us < *known.without_us;
  return pays != tries_other_way(known.calls);
}

void Joining::note(const ProgramShape& program, bool joined, double us) {
  Known& known = known_[program];
  ++known.calls;
  std::optional<double>& way_us = joined ? known.with_us : known.without_us;
  way_us = way_us ? std::min(us, kMostRise * *way_us) : us;
}

}  // namespace passnet::runtime
