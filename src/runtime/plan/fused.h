// Fused nodes: `passnet.fused(i, inputs…)` runs launch list i. Buffers are allocated afresh at each call; kernels come
// from what pass/ built. Internal to runtime/ (includes torch).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"
#include "runtime/device/device.h"
#include "runtime/plan/builder.h"

namespace passnet::runtime {

/// The launch lists of one graph with their kernels loaded. Steps refer to it, so it outlives the plan.
class FusedLibrary {
 public:
  enum class Mode : uint8_t {
    Run,    // allocate and launch
    Trace,  // allocate only: metas of the outputs are wanted
    Infer,  // the same on tensors without data
    Check,  // launch on poisoned and fenced copies (device/checked_run.h)
  };
  /// kernels: one vector per list, one file per launch, or empty vectors for lists that are only traced.
  /// Errors: BadInput (counts that do not fit), and as Device::host().
  static Result<std::unique_ptr<FusedLibrary>> load(std::vector<pass::LaunchList> lists,
                                                    const std::vector<std::vector<pass::KernelFile>>& kernels,
                                                    Device& device);

  size_t size() const { return lists_.size(); }
  const FusedList& list(size_t index) const { return lists_[index]; }
  Device& device() const { return device_; }
  /// Null when some list has no kernels.
  KernelHost* host() const { return host_.get(); }

  Mode mode = Mode::Run;
  int64_t traced_element = 0;  // of all outputs of traced kernels
  /// Launches of Mode::Run stay in line until host()->finish() is called, over several calls too. For graphs that launch,
  /// and beside that only make views.
  bool deferring = false;
  /// Memory of launches that stand in line: another call that got it would fill it before they run.
  std::vector<at::Tensor> held = {};
  /// Called instead of each launch of Mode::Run, where it is set, with what does the launch.
  std::function<void(size_t list, size_t launch, const std::function<void()>& run)> around_launch;

 private:
  explicit FusedLibrary(Device& device) : device_(device) {}
  Device& device_;
  std::vector<FusedList> lists_;
  std::unique_ptr<KernelHost> host_;  // null: some list can only be traced
};

/// Lets launches stand in line over several calls while it lives.
class Deferring {
 public:
  Deferring(FusedLibrary& library, bool defers) : library_(library) { library.deferring = defers; }
  ~Deferring() {
    library_.deferring = false;
    library_.held.clear();
  }
  Deferring(const Deferring&) = delete;
  Deferring& operator=(const Deferring&) = delete;

 private:
  FusedLibrary& library_;
};

/// The step, after which launches go on to stand in line where it only moves what it is given; else they are run before it.
/// REQUIRES: it reads its first argument from a slot; library outlives it.
std::unique_ptr<Step> make_unless_copying(std::unique_ptr<Step> step, FusedLibrary& library);

/// Lowers `passnet.fused(i, inputs…)` to a step; returns the Tuple of its outputs. library: null when the graph came
/// without launch lists. Throws LoweringError.
Operand lower_fused(Builder& builder, FusedLibrary* library, const std::vector<Operand>& args);

}  // namespace passnet::runtime
