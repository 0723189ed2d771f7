// The seed of a run: from the system, so that nobody knows the inputs before the run has promised not to choose them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace passnet::run {

struct Seed {
  uint64_t value = 0;  // below 2^32, which is what NumPy's generator takes
  std::string nonce;   // 32 hex digits; empty: the seed was given
  bool given() const { return nonce.empty(); }
};

/// Errors: Resource (the system gives no random bytes).
Result<Seed> draw_seed();

}  // namespace passnet::run
