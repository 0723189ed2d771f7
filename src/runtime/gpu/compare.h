// Bits of a call's outputs against those of the checked call, compared on the device, so that nothing waits
// for the answer between timed calls. Internal to runtime/ (includes torch); without CUDA's headers
// absent.cpp refuses.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <vector>

namespace passnet::runtime::gpu {

class OutputComparison {
 public:
  /// expected: contiguous; what lies on the CPU is compared there. calls: at most so many are compared.
  OutputComparison(const std::vector<at::Tensor>& expected, int64_t calls);

  /// Compares the tensors among a call's outputs, which may be given back as soon as this returns.
  void add(const std::vector<c10::IValue>& outputs);

  /// How many calls differed, in a bit, an element type, a shape or the number of tensors. Waits for the
  /// device.
  int64_t differing() const;

 private:
  const std::vector<at::Tensor>& expected_;
  at::Tensor differs_;  // per call, on the device: not 0 when something differs
  int64_t calls_ = 0;
};

}  // namespace passnet::runtime::gpu
