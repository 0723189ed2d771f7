#include "runtime/cpu/cpu_device.h"

#include <ATen/EmptyTensor.h>

#include <algorithm>

#include "base/hash.h"
#include "base/memory.h"
#include "runtime/tensor/allocator.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

/// A hash over the bits of all tensors among the values, types and shapes included.
uint64_t fingerprint_of(const std::vector<c10::IValue>& values) {
  uint64_t hash = 0;
  for (const c10::IValue& value : values) {
    if (!value.isTensor()) continue;
    const at::Tensor tensor = value.toTensor().contiguous();
    hash = fast_hash(tensor.sizes().data(), tensor.sizes().size() * sizeof(int64_t),
                     hash + static_cast<uint64_t>(tensor.scalar_type()));
    hash = fast_hash(tensor.const_data_ptr(), static_cast<size_t>(tensor.nbytes()), hash);
  }
  return hash;
}

class FingerprintComparison final : public OutputComparison {
 public:
  explicit FingerprintComparison(const std::vector<c10::IValue>& outputs) : expected_(fingerprint_of(outputs)) {}
  void begin(int64_t) override { differing_ = 0; }
  void add(const std::vector<c10::IValue>& outputs) override { differing_ += fingerprint_of(outputs) != expected_; }
  int64_t differing() const override { return differing_; }

 private:
  uint64_t expected_;
  int64_t differing_ = 0;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(HostMaker make_host) : make_host_(std::move(make_host)) {}

  at::Tensor allocate(const ir::TensorType& type) override {
    return at::detail::empty_strided_cpu(type.shape, type.strides, scalar_type(type.dtype));
  }
  Result<std::unique_ptr<KernelHost>> host(const std::vector<FusedList>& lists) override { return make_host_(lists); }
  std::unique_ptr<CallClock> make_clock() override { return std::make_unique<HostClock>(*this); }
  std::unique_ptr<OutputComparison> compare_with(const std::vector<c10::IValue>& outputs) override {
    return std::make_unique<FingerprintComparison>(outputs);
  }
  int64_t room_bytes() const override {
    constexpr int64_t kEnough = int64_t{1} << 30, kShare = 4;
    return std::min(kEnough, available_memory().value_or(kShare * kEnough) / kShare);
  }
  std::optional<record::DeviceMemory> give_back_memory() override {
    if (cached_bytes() > int64_t{1} << 30) drop_large_blocks();
    return std::nullopt;
  }

 private:
  HostMaker make_host_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(HostMaker make_host) {
  return std::make_unique<CpuDevice>(std::move(make_host));
}

}  // namespace passnet::runtime
