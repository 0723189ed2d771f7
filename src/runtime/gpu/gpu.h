// What gpu_device.cpp puts together: the GPU started, waited for, its memory, cache and state. All functions but
// start() REQUIRE that it has succeeded. Internal to gpu/.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "base/result.h"
#include "record/record.h"
#include "runtime/device/device_state.h"

namespace passnet::runtime::gpu {

/// Opens libtorch_cuda and the driver, makes `index` the device of this thread, with a stream of its own.
/// Errors: Resource saying which of the parts is missing.
Result<c10::Device> start(int index);
/// Opens libtorch_cuda, which takes a tenth of a second or more; null: it cannot be opened, and dlerror() says why.
void* open_torch();

/// "NVIDIA H200"
std::string name();
/// "sm_90": what kernels are compiled for.
std::string architecture();

/// Waits for the stream. Throws KernelFault when a kernel has failed; the process cannot go on with the GPU then.
void synchronize();

/// Whether this process has lost the GPU: a kernel or the device failed, and every later call fails too.
bool has_stopped();

/// Waits for the device and gives all memory that is kept for reuse back to it, so that the other worker of this device
/// has it: PyTorch's blocks, the pools of recordings that are gone, pinned memory, plans of Fourier transforms. Throws
/// as synchronize().
record::DeviceMemory give_back_memory();
/// As Device::room_bytes(). The other worker of the device takes as much.
int64_t room_bytes();
/// The same for PyTorch's blocks when they are more than 1 GiB: a recording cannot take from them, and leaves as many
/// again.
void make_room();

/// Overwrites memory of more than the size of the second-level cache, so that nothing of a graph is left in it.
void flush_cache();

DeviceCondition condition();

}  // namespace passnet::runtime::gpu
