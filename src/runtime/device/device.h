// The device that graphs run on, as the rest of runtime/ sees it. There are two: the CPU (cpu/cpu_device.h) and a GPU
// (gpu/gpu_device.h); a process has one. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "pass/plan/kernel_file.h"
#include "pass/plan/launch_list.h"
#include "record/record.h"
#include "runtime/device/device_state.h"
#include "runtime/device/fault_report.h"

namespace passnet::runtime {

/// A launch list of a loaded graph with the kernels of its launches.
struct FusedList {
  pass::LaunchList launches;
  std::vector<pass::KernelFile> kernels;  // one per launch; empty: can be traced, not run
  std::vector<RunningLaunch> running;     // one per launch, for the report of one that does not end
  bool can_launch() const { return kernels.size() == launches.launches.size(); }
};

/// Memory of one buffer in a checked run: what a kernel writes outside of it is found.
class CheckedMemory {
 public:
  virtual ~CheckedMemory() = default;
  /// The buffer itself, uint8.
  virtual const at::Tensor& bytes() const = 0;
  /// Where a byte outside was overwritten: bytes before the start (negative) or past the end (0 is the first).
  virtual std::optional<int64_t> broken_canary() const = 0;
  /// Tells whether one was: a bool [] on the device, which has not been waited for. Undefined where asking for the place costs
  /// no more.
  virtual at::Tensor is_overrun() const { return {}; }
};

/// Where the kernels of one loaded graph run.
class KernelHost {
 public:
  virtual ~KernelHost() = default;

  /// Defences that `passnet selftest` switches off, to see what the others hold.
  bool poisons = true;  // buffers hold what no kernel wrote before a call, and outputs that still hold it are told
  bool compares_canaries = true;  // the bytes beside a buffer, and variables of kernels, are looked at after a call

  /// Memory for a buffer that the plan allocates, or that it may write; elements are as they happen to be. Throws KernelFault when more calls'
  /// buffers are held than calls_at_a_time().
  virtual at::Tensor allocate(size_t list, size_t buffer) = 0;
  /// A place for a copy of a buffer in a checked run.
  virtual std::unique_ptr<CheckedMemory> allocate_checked(size_t list, size_t buffer) = 0;
  /// `tensor` where kernels can read it: itself, or a copy.
  virtual at::Tensor visible(const at::Tensor& tensor) { return tensor; }
  /// Whether kernels can write where an input lies. Otherwise what they may write is copied, before and after.
  virtual bool writes_in_place() const { return true; }

  /// Puts a launch in line. buffers[i]: first element of buffer i of the list. Throws KernelFault when the device refuses
  /// it.
  virtual void launch(size_t list, size_t index, char* const* buffers) = 0;
  /// Starts what stands in line; on the CPU it has run when this returns. Throws KernelFault.
  virtual void finish() {}

  /// Launches come soon, and no operators before them: threads that run kernels wake up now, those of operators end.
  virtual void expect_launches() {}
  /// Whether a call's launches are expected to run on this thread's processor too, which it leaves to another process for
  /// that. expected: expect_launches() was called for them.
  virtual bool gives_way(bool) const { return false; }
  virtual size_t calls_at_a_time() const = 0;
  /// Buffers of the next `calls` calls lie elsewhere than before and hold random bytes.
  virtual void renew(size_t) {}
  /// Throws KernelFault when a byte beside a buffer was overwritten since it was placed, or a variable of a kernel since
  /// it was loaded.
  virtual void require_intact() {}
  /// The second alone, of the kernel of one launch, which has ended.
  virtual void require_same_variables(size_t, size_t) {}
  /// A pidfd of the process that kernels run in; -1: this one.
  virtual int process() const { return -1; }
};

/// Times one call after the other.
class CallClock {
 public:
  virtual ~CallClock() = default;
  virtual void start() = 0;
  /// us since start() until the device was done; nullopt: the call could not be timed and is to be called again.
  virtual std::optional<double> stop() = 0;
};

/// Outputs of calls against those of one call, bit by bit, as cheaply as the device can.
class OutputComparison {
 public:
  virtual ~OutputComparison() = default;
  /// Forgets earlier comparisons. calls: at most so many will be added.
  virtual void begin(int64_t calls) = 0;
  /// A call's outputs, which may be freed as soon as this returns.
  virtual void add(const std::vector<c10::IValue>& outputs) = 0;
  /// How many of the calls differed, in a bit, an element type, a shape or the number of tensors. Waits for the device.
  virtual int64_t differing() const = 0;
};

/// A call of a graph as what the device does for it, repeated without PyTorch.
class RecordedCall {
 public:
  /// Runs the graph on these inputs; its outputs. Frees nothing before it returns.
  using Run = std::function<Result<std::vector<c10::IValue>>(const std::vector<at::Tensor>&)>;

  virtual ~RecordedCall() = default;
  /// One call, with fresh outputs, which share memory with no other call's. Returns when all stands in line.
  /// REQUIRES: inputs of the recorded types, at multiples of 256 bytes.
  virtual void call(const std::vector<at::Tensor>& inputs) = 0;
  /// Of the last call; a tuple's elements one by one.
  virtual const std::vector<c10::IValue>& outputs() const = 0;
  /// Forgets the outputs of the last call.
  virtual void release() = 0;
  /// How it is repeated: "direct" (one launch after the other), "graph" (one launch of a CUDA graph), "graph with
  /// copies".
  virtual std::string mode() const = 0;
};

/// Memory of the device that another process can open.
struct SharedBytes {
  at::Tensor bytes;  // uint8
  UniqueFd memory;   // stands for it
};

class Device {
 public:
  virtual ~Device() = default;

  /// "NVIDIA H200" and "sm_90"; both empty for the CPU.
  virtual std::string name() const { return ""; }
  virtual std::string architecture() const { return ""; }

  /// Elements are as they happen to be.
  virtual at::Tensor allocate(const ir::TensorType& type) = 0;

  /// Errors: Unsupported: the device has no memory of its own; Resource.
  virtual Result<SharedBytes> allocate_shared(int64_t size_bytes);
  /// What another process allocated so: uint8, unmapped with the last tensor that views it. Errors: as allocate_shared();
  /// Resource too where `memory` is none of this device, or smaller.
  virtual Result<at::Tensor> open_shared(int memory, int64_t size_bytes);

  /// Loads the kernels of `lists`, all of which can be launched and which must outlive what is returned.
  /// Errors: BadPass: a file holds no kernel of this device; Resource, Io.
  virtual Result<std::unique_ptr<KernelHost>> host(const std::vector<FusedList>& lists) = 0;

  /// Waits for all that stands in line. Throws KernelFault when the device has stopped; the process cannot go on with
  /// it.
  virtual void synchronize() {}
  /// Whether this process has lost the device: every later call fails too.
  virtual bool has_stopped() const { return false; }

  virtual std::unique_ptr<CallClock> make_clock() = 0;
  /// A clock of the device itself that reads all that passes between start and stop, launching and waiting included;
  /// null: it has none beside the host's.
  virtual std::unique_ptr<CallClock> make_span_clock() { return nullptr; }
  virtual std::unique_ptr<OutputComparison> compare_with(const std::vector<c10::IValue>& outputs) = 0;
  /// Overwrites the device's cache, so that nothing of a graph is left in it.
  virtual void flush_cache() {}
  virtual DeviceCondition condition() const { return {}; }

  /// Bytes that calls may hold at a time beside what a call of the graph needs.
  virtual int64_t room_bytes() const = 0;
  /// Gives memory that no loaded graph needs back, to the system or to the other worker of this device.
  virtual std::optional<record::DeviceMemory> give_back_memory() = 0;
  /// The same for blocks that PyTorch keeps for reuse when they are more than 1 GiB: a recording cannot take from them.
  virtual void make_room() {}

  virtual bool can_record() const { return false; }
  /// Records `run` on copies of `inputs`. Errors: Unsupported saying what cannot be recorded, and what `run` gives.
  /// REQUIRES: can_record(); run has been called before, so that nothing is loaded or tuned while it is recorded.
  virtual Result<std::unique_ptr<RecordedCall>> record(const RecordedCall::Run& run,
                                                       const std::vector<at::Tensor>& inputs);
};

/// Wall-clock time from start() until `device` is done.
class HostClock final : public CallClock {
 public:
  explicit HostClock(Device& device) : device_(device) {}
  void start() override;
  std::optional<double> stop() override;

 private:
  Device& device_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace passnet::runtime
