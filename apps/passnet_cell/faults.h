// The last words of a cell: what its kernel did, left in the control page for the worker.
#pragma once

#include "cell/control.h"

namespace passnet::cell {

/// From now on a fault of any thread, and a system call that is refused, is told in `control` and ends the process.
void install_fault_report(Control* control);
/// Gives this thread a stack for that, since a kernel may have used up its own.
void take_fault_stack();

}  // namespace passnet::cell
