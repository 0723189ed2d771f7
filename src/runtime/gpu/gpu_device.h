// A GPU as a device: libtorch_cuda and the CUDA driver are opened when it is started, the binary links neither; one
// device, one stream. Internal to runtime/ (includes torch). A build without CUDA's headers has absent.cpp instead.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/device/device.h"

namespace passnet::runtime {

/// Makes GPU `index` what graphs of this process run on (graph_device() of tensor/placement.h), with a stream of its
/// own.
/// Errors: Resource saying which of the parts is missing.
Result<std::unique_ptr<Device>> start_gpu(int index);

/// Opens libtorch_cuda ahead, for copies of this process, which need not. Starts no thread; does nothing where it is missing.
void preload_gpu();

/// A device whose functions work on this thread's device and stream.
std::unique_ptr<Device> make_gpu_device();

}  // namespace passnet::runtime
