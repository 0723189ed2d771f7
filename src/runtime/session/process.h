// What a worker process has once: libtorch made ready, threads, the device. Free of torch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/processors.h"
#include "base/result.h"
#include "record/record.h"
#include "runtime/cpu/cell/starter.h"
#include "runtime/device/device_state.h"

namespace passnet::runtime {

class Device;

struct RuntimeOptions {
  int threads = 1;  // for operators, and for kernels of passes on the CPU
  std::vector<int>
      processors;  // where the threads are bound, one each (libgomp is told by its environment); empty: nowhere
  std::optional<int> gpu = {};  // the GPU that graphs run on; none: the CPU
  /// On the CPU: starts the processes that kernels of passes run in; none: they cannot run here. Kept.
  std::unique_ptr<CellStarter> cells = {};
};

/// Prepares libtorch in this process: allocator, threads, no gradients. Calls a few operators so that what libtorch loads
/// lazily is loaded. Call once. Errors: Resource: no such GPU, or a part is missing.
Result<void> start_runtime(RuntimeOptions options);

/// Loads what start_runtime() would for a GPU without touching it: for copies of this process.
void preload_for_gpu();

/// What graphs run on. REQUIRES start_runtime(); a GPU that could not be started leaves the CPU.
Device& device();
bool on_gpu();
/// "NVIDIA H200" and "sm_90"; empty on the CPU.
std::string device_name();
std::string device_architecture();
/// Whether this process has lost its device: every later call fails too.
bool device_has_stopped();
/// Gives memory that is kept for reuse back: to the system large blocks, when they are more than 1 GiB; on a GPU all
/// that no loaded graph needs. What the GPU's memory was is returned. Throws KernelFault when the GPU has stopped.
std::optional<record::DeviceMemory> trim_memory();

/// While this lives, threads that the calling one starts run on all processors of the process: it is bound to one itself,
/// and they would be too.
OnProcessors on_all_processors();

/// "2.11.0"
std::string torch_version();
int thread_count();

}  // namespace passnet::runtime
