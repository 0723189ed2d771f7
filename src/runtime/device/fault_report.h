// The last words of a worker whose kernel does not end: a signal handler answers the pending request itself, naming
// kernel and launch, and ends the process. Everything it needs is kept in plain memory, since a handler may not allocate.
#pragma once

#include <string>

#include "base/result.h"

namespace passnet::runtime {

/// From now on the SIGTERM that passnet sends when its patience is at an end is answered on `socket` before the process
/// ends, when a kernel runs. Outside of kernels it has its default effect.
void install_fault_report(int socket);

/// One launch as the report tells it; made before it runs.
struct RunningLaunch {
  std::string kernel;  // "kernel 'f' of pass 'P'"
  std::string launch;  // describe_launch of checked_run.h
  SourceLoc at;        // in Name.py
};

/// Names what runs now; nullptr: no kernel runs. As cheap as a store. `launch` must stay as it is until the next call.
void set_running(const RunningLaunch* launch);

}  // namespace passnet::runtime
