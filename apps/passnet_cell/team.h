// The cell's threads: they run programs (cell/control.h) and sleep between them.
#pragma once

#include "cell/control.h"

namespace passnet::cell {

struct Team {
  Control* control = nullptr;
  const Program* program = nullptr;
  const passnet_run_fn* kernels = nullptr;
  uint32_t threads = 1;
  bool matrix_unit = false;  // threads may use it
};

/// Starts the helpers, bound to processors[1…], and binds this thread to processors[0]; -1 leaves it where it is.
/// Returns: what failed, or null. `team` is kept.
const char* start_team(const Team& team, const int32_t* processors);

/// Takes part in programs as the first thread, for ever.
[[noreturn]] void run_programs();

}  // namespace passnet::cell
