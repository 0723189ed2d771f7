// A graph in the process of a user: loaded once, then called on tensors. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "pass/plan/kernel_file.h"
#include "pass/plan/launch_list.h"
#include "runtime/device/device.h"
#include "runtime/plan/fused.h"
#include "runtime/plan/plan.h"
#include "runtime/use/gpu_calls.h"

namespace passnet::runtime {

/// What can be called on tensors.
class Callable {
 public:
  virtual ~Callable() = default;
  virtual const std::vector<std::string>& input_names() const = 0;
  virtual size_t operator_calls() const = 0;
  virtual size_t sites() const = 0;  // where a pass is applied
  /// Says no only where no call writes to an input.
  virtual bool may_write() const = 0;
  /// How the last call on a GPU ran (GpuCalls::mode()), and why it was not recorded; on the CPU "operators".
  virtual std::pair<std::string, std::string> mode() const { return {"operators", ""}; }
  /// One call. Several threads may call; their calls follow one another.
  /// Errors: as Plan::run(). REQUIRES: one tensor per input.
  virtual Result<std::vector<c10::IValue>> call(std::vector<at::Tensor> inputs) = 0;
};

class UsedGraph final : public Callable {
 public:
  struct Source {
    std::string model;  // the text of model.py, with passnet.fused for the sites of passes
    std::vector<pass::LaunchList> lists = {};
    std::vector<std::vector<pass::KernelFile>> kernels = {};  // by list and launch, with their hashes
    std::optional<c10::DeviceIndex> gpu = {};                 // which PyTorch has started; none: the CPU
  };
  /// Errors: BadInput and Unsupported at the line of the model, BadPass for kernels that cannot be loaded,
  /// Resource for a GPU that cannot be used.
  static Result<std::unique_ptr<UsedGraph>> load(Source source);
  /// Gives memory back that calls on the CPU kept for each other.
  ~UsedGraph() override;

  const std::vector<std::string>& input_names() const override { return plan_->input_names(); }
  size_t operator_calls() const override { return plan_->operator_calls(); }
  size_t sites() const override { return fused_->size(); }
  bool may_write() const override { return std::ranges::find(may_write_, true) != may_write_.end(); }
  std::pair<std::string, std::string> mode() const override;

  /// Errors: BadInput with the failure "other-shapes" too: the launches were made for other inputs; BadInput for an input
  /// that is not on the GPU of the source.
  Result<std::vector<c10::IValue>> call(std::vector<at::Tensor> inputs) override;

 private:
  UsedGraph() = default;
  Result<void> build(Source source);
  /// One call by operators, on the inputs that it gets. keep: its values stay until release().
  Result<std::vector<c10::IValue>> run(const std::vector<at::Tensor>& inputs, bool keep);
  void release();
  /// Lets PyTorch know what a call wrote, and which of its results share memory with an input.
  void note_versions(const std::vector<at::Tensor>& inputs, const std::vector<c10::IValue>& outputs) const;

  mutable std::mutex mutex_;
  c10::Device place_{c10::DeviceType::CPU};
  std::unique_ptr<Device> device_;
  std::unique_ptr<FusedLibrary> fused_;
  std::unique_ptr<Plan> plan_;
  std::vector<bool> may_write_;          // by input
  std::unique_ptr<GpuCalls> gpu_calls_;  // null: on the CPU
};

}  // namespace passnet::runtime
