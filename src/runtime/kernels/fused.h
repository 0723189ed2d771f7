// Fused nodes: `passnet.fused(i, inputs…)` runs launch list i. Buffers are allocated afresh at each call; kernels come from
// what pass/ built: shared objects, whose grids are spread over our thread pool, or cubins, which are launched on the GPU.
// Internal to runtime/ (includes torch).
#pragma once

#include <passnet/abi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"
#include "runtime/kernels/fault_report.h"
#include "runtime/kernels/kernel_file.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/plan/builder.h"

namespace passnet::runtime {

class KernelCheck;
namespace gpu {
class Kernel;
}

/// The launch lists of one graph with their kernels loaded. Steps refer to it, so it outlives the plan.
class FusedLibrary {
 public:
  enum class Mode : uint8_t {
    Run,    // allocate and launch
    Trace,  // allocate only: metas of the outputs are wanted
    Check,  // launch on poisoned and fenced copies (kernel_check.h)
  };
  struct Kernel {
    passnet_run_fn run = nullptr;               // on the CPU
    std::shared_ptr<const gpu::Kernel> device;  // on the GPU
  };
  struct List {
    pass::LaunchList launches;
    std::vector<Kernel> kernels;         // one per launch; empty: can be traced, not run
    std::vector<RunningLaunch> running;  // one per kernel, for the report of a fault
  };

  /// kernels: one vector per list, one file per launch, or empty vectors for lists that are only traced.
  /// Errors: BadInput (counts that do not fit), BadPass when an object cannot be loaded.
  static Result<std::unique_ptr<FusedLibrary>> load(std::vector<pass::LaunchList> lists,
                                                    const std::vector<std::vector<KernelFile>>& kernels,
                                                    ThreadPool* pool);
  ~FusedLibrary();

  size_t size() const { return lists_.size(); }
  const List& list(size_t index) const { return lists_[index]; }
  ThreadPool& pool() const { return *pool_; }

  Mode mode = Mode::Run;
  KernelCheck* check = nullptr;  // of Mode::Check
  /// Called instead of each launch of Mode::Run, where it is set, with what does the launch.
  std::function<void(size_t list, size_t launch, const std::function<void()>& run)> around_launch;

 private:
  FusedLibrary() = default;
  Result<Kernel> load_kernel(const KernelFile& file, const std::string& name);
  std::vector<List> lists_;
  std::vector<void*> objects_;
  ThreadPool* pool_ = nullptr;
};

/// Lowers `passnet.fused(i, inputs…)` to a step; returns the Tuple of its outputs. Throws LoweringError.
Operand lower_fused(Builder& builder, FusedLibrary* library, const std::vector<Operand>& args);

}  // namespace passnet::runtime
