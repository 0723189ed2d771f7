// The last words of a worker whose kernel crashed: a signal handler answers the pending request itself,
// naming kernel and buffer, and ends the process. Everything it needs is kept in plain memory, since a
// handler may not allocate.
#pragma once

#include <cstddef>
#include <string_view>

namespace passnet::runtime {

/// From now on SIGSEGV, SIGBUS, SIGFPE and SIGILL inside a kernel are answered on `socket` before the process
/// dies. Outside a kernel they have their default effect.
void install_fault_report(int socket);

/// Names what runs now: "kernel 'f' of pass 'P'". Empty: no kernel runs.
void set_running_kernel(std::string_view description);

/// Memory [begin, end) around a buffer that no kernel may touch; `what` is "output 0" or the like, cut to 47
/// bytes. data..data_end: the buffer itself, for saying how far off an access was.
void add_fence(const void* begin, const void* end, const void* data, const void* data_end,
               std::string_view what);
void clear_fences();

}  // namespace passnet::runtime
