// The device that graphs run on in this thread, in a process that uses several. Internal to runtime/ (includes torch).
#pragma once

#include <c10/core/Device.h>

#include <optional>

namespace passnet::runtime {

/// Makes graph_device() (tensor/placement.h) another one for this thread; none: that of the process. Returns the one before.
std::optional<c10::Device> exchange_thread_device(std::optional<c10::Device> device);

}  // namespace passnet::runtime
