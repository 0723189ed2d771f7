// The last words of a worker whose kernel crashed or does not end: a signal handler answers the pending request itself,
// naming kernel, launch and buffer, and ends the process. Everything it needs is kept in plain memory, since a
// handler may not allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::runtime {

/// From now on SIGSEGV, SIGBUS, SIGFPE and SIGILL inside a kernel, and the SIGTERM that passnet sends when its patience
/// is at an end, are answered on `socket` before the process dies. Outside a kernel they have their default effect.
void install_fault_report(int socket);

/// One launch as the report tells it; made before it runs.
struct RunningLaunch {
  std::string kernel;                      // "kernel 'f' of pass 'P'"
  std::string launch;                      // describe_launch of checked_run.h
  SourceLoc at;                            // in Name.py
  size_t list = 0, index = 0;              // which launch of which launch list
  uintptr_t code_begin = 0, code_end = 0;  // where the kernel's object lies; equal: not known
};

/// Names what runs now; nullptr: no kernel runs. As cheap as a store. `launch` must stay as it is until the next call.
void set_running(const RunningLaunch* launch);

/// Memory [begin, end) around a buffer that no kernel may touch; `what` is "output 0" or the like, cut to 47
/// bytes. data..data_end: the buffer itself, for saying how far off an access was.
void add_fence(const void* begin, const void* end, const void* data, const void* data_end, std::string_view what);
void clear_fences();

}  // namespace passnet::runtime
