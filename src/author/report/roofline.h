// Compares what a pass takes with what the machine allows: bytes by bandwidth, and launches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/floor.h"
#include "record/record.h"

namespace passnet::author {

/// The measured speed of a machine.
struct MachineSpeed {
  std::vector<record::CopySpeed> copies;
  double call_us = 0;    // a call of one empty launch, until it is done; 0: not measured
  double launch_us = 0;  // each further launch in it
};

struct Roofline {
  double gb_per_s = 0;     // of copies of as many bytes
  double bytes_us = 0;     // what moving them takes at that speed
  double launches_us = 0;  // what a call of as many empty launches takes; 0: not measured
  std::optional<double>
      measured_us;  // its launches, by clocks around each, with handing it over on a CPU; none: no profile
};

/// bytes, launches: of the pass in one graph. record: of that graph; null: it has none, or the pass declines it.
/// Returns: nullopt without copies.
std::optional<Roofline> roofline_of(const std::string& pass, int64_t bytes, size_t launches,
                                    const record::RunRecord* record, const MachineSpeed& speed);

}  // namespace passnet::author
