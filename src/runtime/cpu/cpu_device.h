// The CPU as a device. Internal to runtime/ (includes torch).
#pragma once

#include <memory>

#include "runtime/cpu/thread_pool.h"
#include "runtime/device/device.h"

namespace passnet::runtime {

/// pool: runs the launches; outlives the device.
std::unique_ptr<Device> make_cpu_device(ThreadPool& pool);

}  // namespace passnet::runtime
