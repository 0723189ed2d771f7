// Bits of a call's outputs against those of the checked call, compared on the device, so that nothing waits
// for the answer between timed calls. Internal to gpu/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <vector>

#include "runtime/device/device.h"

namespace passnet::runtime::gpu {

class BitComparison final : public OutputComparison {
 public:
  /// Keeps copies of the tensors among `outputs`; what lies on the CPU is compared there.
  explicit BitComparison(const std::vector<c10::IValue>& outputs);
  void begin(int64_t calls) override;
  void add(const std::vector<c10::IValue>& outputs) override;
  int64_t differing() const override;

 private:
  std::vector<at::Tensor> expected_;
  at::Tensor differs_;  // per call, on the device: not 0 when something differs
  int64_t calls_ = 0;
};

}  // namespace passnet::runtime::gpu
