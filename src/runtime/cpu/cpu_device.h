// The CPU as a device. Internal to runtime/ (includes torch).
#pragma once

#include <memory>

#include "runtime/cpu/cell/host.h"
#include "runtime/device/device.h"

namespace passnet::runtime {

/// cells: what kernels of passes run in; what it points to outlives the device.
std::unique_ptr<Device> make_cpu_device(CellResources cells);

}  // namespace passnet::runtime
