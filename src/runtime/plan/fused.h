// Fused nodes: `passnet.fused(i, inputs…)` runs launch list i. Buffers are allocated afresh at each call; kernels come
// from what pass/ built. Internal to runtime/ (includes torch).
#pragma once

#include <functional>
#include <memory>
#include <string>
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
    Check,  // launch on poisoned and fenced copies (device/checked_run.h)
  };
  struct List {
    pass::LaunchList launches;
    std::vector<std::shared_ptr<const LoadedKernel>> kernels;  // one per launch; empty: can be traced, not run
    std::vector<RunningLaunch> running;                        // one per kernel, for the report of a fault
    bool can_launch() const { return kernels.size() == launches.launches.size(); }
  };

  /// kernels: one vector per list, one file per launch, or empty vectors for lists that are only traced.
  /// Errors: BadInput (counts that do not fit), BadPass when an object cannot be loaded.
  static Result<std::unique_ptr<FusedLibrary>> load(std::vector<pass::LaunchList> lists,
                                                    const std::vector<std::vector<KernelFile>>& kernels,
                                                    Device& device);

  size_t size() const { return lists_.size(); }
  const List& list(size_t index) const { return lists_[index]; }
  Device& device() const { return device_; }

  Mode mode = Mode::Run;
  /// Called instead of each launch of Mode::Run, where it is set, with what does the launch.
  std::function<void(size_t list, size_t launch, const std::function<void()>& run)> around_launch;

 private:
  explicit FusedLibrary(Device& device) : device_(device) {}
  Device& device_;
  std::vector<List> lists_;
};

/// Lowers `passnet.fused(i, inputs…)` to a step; returns the Tuple of its outputs. library: null when the graph came
/// without launch lists. Throws LoweringError.
Operand lower_fused(Builder& builder, FusedLibrary* library, const std::vector<Operand>& args);

}  // namespace passnet::runtime
