// The CPU as a device. Internal to runtime/ (includes torch).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/device/device.h"

namespace passnet::runtime {

/// Loads kernels, as Device::host() does.
using HostMaker = std::function<Result<std::unique_ptr<KernelHost>>(const std::vector<FusedList>&)>;

/// make_host: decides where kernels of passes run: in a cell (cell/host.h), or in this process (in_process_host.h).
std::unique_ptr<Device> make_cpu_device(HostMaker make_host);

}  // namespace passnet::runtime
