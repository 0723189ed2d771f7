// A graph in the process of a user: loaded once, then called on tensors. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"
#include "runtime/device/device.h"
#include "runtime/device/kernel_file.h"
#include "runtime/plan/fused.h"
#include "runtime/plan/plan.h"

namespace passnet::runtime {

/// What can be called on tensors.
class Callable {
 public:
  virtual ~Callable() = default;
  virtual const std::vector<std::string>& input_names() const = 0;
  virtual size_t operator_calls() const = 0;
  virtual size_t sites() const = 0;  // where a pass is applied
  /// One call. Several threads may call; their calls follow one another.
  /// Errors: as Plan::run(). REQUIRES: one tensor per input.
  virtual Result<std::vector<c10::IValue>> call(std::vector<at::Tensor> inputs) = 0;
};

class UsedGraph final : public Callable {
 public:
  struct Source {
    std::string model;  // the text of model.py, with passnet.fused for the sites of passes
    std::vector<pass::LaunchList> lists;
    std::vector<std::vector<KernelFile>> kernels;  // by list and launch, with their hashes
  };
  /// Errors: BadInput and Unsupported at the line of the model, BadPass for kernels that cannot be loaded.
  static Result<std::unique_ptr<UsedGraph>> load(Source source);

  const std::vector<std::string>& input_names() const override { return plan_->input_names(); }
  size_t operator_calls() const override { return plan_->operator_calls(); }
  size_t sites() const override { return fused_->size(); }

  /// Errors: BadInput with the failure "other-shapes" too: the launches were made for other inputs.
  Result<std::vector<c10::IValue>> call(std::vector<at::Tensor> inputs) override;

 private:
  UsedGraph() = default;

  std::mutex mutex_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<FusedLibrary> fused_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace passnet::runtime
