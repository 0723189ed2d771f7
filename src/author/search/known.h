// Schedules that were measured before, kept beside the calibration: one file for each structure on each machine.
#pragma once

#include <optional>
#include <string>

#include "author/text/plan/schedule.h"
#include "base/result.h"

namespace passnet::author {

/// A schedule that was measured, with the pass and the machine.
struct KnownSchedule {
  std::string hardware;   // as records have it
  std::string structure;  // of the pass: a hash of its kernels' texts, dtypes and sizes
  Schedule schedule;      // the fastest: the default, or one that is faster beyond the noise
};

/// nullopt: nothing is kept, or nothing that can be used (broken, or of another machine or structure), which is said.
std::optional<Schedule> load_schedule(const std::string& hardware, const std::string& structure);
/// Readers see the old one or this one. Errors: Io.
Result<void> store_schedule(const KnownSchedule& known);

}  // namespace passnet::author
