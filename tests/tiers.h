// The tiers of tests/tiers.py, for tests in C++.
#pragma once

#include <cstdlib>
#include <string_view>

namespace passnet {

/// Returns: true in the full tier, which PASSNET_FULL=1 asks for.
inline bool full_tier() {
  const char* const full = std::getenv("PASSNET_FULL");
  return full != nullptr && std::string_view(full) == "1";
}

}  // namespace passnet
