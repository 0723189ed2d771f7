// The GPU as the rest of runtime/ sees it: found when the process starts (libtorch_cuda and the driver are opened then, the
// binary links neither), one device, one stream. All functions but start() REQUIRE that it has succeeded.
// A build without CUDA's headers has absent.cpp instead, where start() refuses.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace passnet::runtime::gpu {

/// Opens libtorch_cuda and the driver, makes `index` the device of this thread, with a stream of its own.
/// Errors: Resource saying which of the parts is missing.
Result<c10::Device> start(int index);

/// "NVIDIA H200"
std::string name();
/// "sm_90": what kernels are compiled for.
std::string architecture();

/// Waits for the stream. Throws KernelFault when a kernel has failed; the process cannot go on with the GPU then.
void synchronize();

/// Whether this process has lost the GPU: a kernel or the device failed, and every later call fails too.
bool has_stopped();

/// Device memory that PyTorch's allocator held for this process, in use or kept for reuse.
struct MemoryUse {
  int64_t peak_bytes = 0;  // the most at a time since the last give_back_memory()
  int64_t kept_bytes = 0;  // what remains now: workspaces, tensors of graphs that are still loaded
};
/// Waits for the device and gives all memory that is kept for reuse back to it, so that the other worker of this device has
/// it: PyTorch's blocks, the pools of recordings that are gone, pinned memory, plans of Fourier transforms. Throws as
/// synchronize().
MemoryUse give_back_memory();
/// The same for PyTorch's blocks when they are more than 1 GiB: a recording cannot take from them, and leaves as many again.
void make_room();

/// Overwrites memory of more than the size of the second-level cache, so that nothing of a graph is left in it.
void flush_cache();

/// What can be read of the device's state: the clock of its processors and its temperature.
struct Condition {
  std::optional<int> sm_mhz, temperature_c;
};
Condition condition();

}  // namespace passnet::runtime::gpu
