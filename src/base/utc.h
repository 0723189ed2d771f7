// The time of day, as records tell it.
#pragma once

#include <string>

namespace passnet {

/// Now: "2026-11-21T23:40:05Z".
std::string utc_now();

}  // namespace passnet
