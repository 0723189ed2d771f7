// Calls of a graph on a GPU in a user's own process. The first ones run operators; then, once inputs of a kind (dtypes,
// sizes, strides) have come again, what the device does is recorded and repeated. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/device/device.h"

namespace passnet::runtime {

/// Inputs that have been at one address so far, as parameters are, are recorded where they lie: they take no memory twice
/// and cost nothing in a call. Once one of them comes from elsewhere, its address is put into each call.
class GpuCalls {
 public:
  using Tensors = std::vector<at::Tensor>;
  using Outputs = Result<std::vector<c10::IValue>>;
  /// One call by operators. keep: frees no value before it returns.
  using Run = std::function<Outputs(const Tensors& inputs, bool keep)>;
  /// device: of use_gpu(). may_write: by input; those are recorded on copies. All that is given outlives this.
  GpuCalls(c10::DeviceIndex index, Device& device, Run run, std::vector<bool> may_write);
  ~GpuCalls();
  GpuCalls(const GpuCalls&) = delete;
  GpuCalls& operator=(const GpuCalls&) = delete;

  /// One call on PyTorch's current stream. Errors: as `run`.
  Outputs call(const Tensors& inputs);
  /// How the last call ran: "operators", or as RecordedCall::mode(); why none of its kind is recorded, if it was tried.
  const std::string& mode() const { return mode_; }
  const std::string& why_not_recorded() const { return why_; }

 private:
  struct InputKind;
  struct Kind;  // inputs of one kind

  Kind* find(const Tensors& inputs);
  /// Notes where inputs lie. True: as in the last call, but for those that are known to move.
  static bool note_places(Kind& kind, const Tensors& inputs);
  /// What is recorded on copies of some inputs gives the right outputs for these.
  bool can_be_recorded(const Kind& kind, const Tensors& inputs) const;
  void record(Kind& kind, const Tensors& inputs);
  Result<std::unique_ptr<RecordedCall>> make_recording(Kind& kind, const Tensors& inputs);

  c10::DeviceIndex index_;
  Device& device_;
  Run run_;
  std::vector<bool> may_write_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::string mode_ = "operators", why_;
};

}  // namespace passnet::runtime
