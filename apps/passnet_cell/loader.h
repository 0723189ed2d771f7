// Maps the object of a kernel: code read and execute, data read-only, nothing of it is run.
#pragma once

#include "cell/control.h"

namespace passnet::cell {

/// Maps the shared object that `fd` holds, resolves what it calls among this process's own functions (those of libm and
/// memcpy's kin, checked when it was built), and finds row->entry. Sets row->begin and row->end.
/// Returns: what is wrong with the object, or null.
const char* load_kernel(int fd, KernelRow* row, passnet_run_fn* entry);

}  // namespace passnet::cell
