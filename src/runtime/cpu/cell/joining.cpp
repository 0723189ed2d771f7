#include "runtime/cpu/cell/joining.h"

#include <algorithm>

namespace passnet::runtime {

namespace {

/// No machine changes places in less.
constexpr double kLeastTriedUs = 5;
/// What is won must be more than calls of one program differ by.
constexpr double kLeastGain = 1.05;
/// By how much one call raises what is known: whatever disturbs a call makes it longer.
constexpr double kMostRise = 1.25;
/// Beyond this the program is another one than when the other way was tried.
constexpr double kMostChange = 1.4;

}  // namespace

bool Joining::joins(const ProgramShape& program) const {
  const auto found = known_.find(program);
  if (found == known_.end() || !found->second.without.us) return false;
  const auto& [with, without] = found->second;
  return with.us ? kLeastGain * *with.us < *without.us : *without.us > kLeastTriedUs;
}

void Joining::note(const ProgramShape& program, bool joined, double us) {
  Known& known = known_[program];
  Way &way = joined ? known.with : known.without, &other = joined ? known.without : known.with;
  way.us = way.us ? std::min(us, kMostRise * *way.us) : us;
  way.other_us = other.us.value_or(0);
  if (!other.us) return;
  if (other.other_us == 0) other.other_us = *way.us;
  if (std::max(*way.us, other.other_us) > kMostChange * std::min(*way.us, other.other_us)) other = {};
}

}  // namespace passnet::runtime
