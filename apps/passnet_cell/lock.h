// How the cell gives up all that a kernel could use but computing.
#pragma once

#include "cell/control.h"

namespace passnet::cell {

/// From now on reading the time-stamp counter faults in this thread and those it starts.
void drop_clock();

/// Unmaps the kernel's code in this process that reads clocks.
/// Returns: false: it could not be found.
bool drop_vdso();

/// Closes all descriptors and refuses every system call of every thread but three: to sleep on a word without a time
/// limit, to wake those who sleep on control->done, and to end the process. What is refused raises SIGSYS.
/// Returns: what failed, or null.
const char* lock(const Control* control);

}  // namespace passnet::cell
