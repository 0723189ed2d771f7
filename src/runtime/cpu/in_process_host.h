// Kernels of passes in this process, at full speed and without a wall around them: for kernels that were judged before.
// Internal to runtime/ (includes torch).
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/device.h"

namespace passnet::runtime {

/// Loads the kernels of `lists`, which must outlive what is returned. Their tasks run on the threads of PyTorch's operators.
/// Errors: BadPass: an object is not the one that was built, or holds no such kernel; Io.
Result<std::unique_ptr<KernelHost>> make_in_process_host(const std::vector<FusedList>& lists);

}  // namespace passnet::runtime
