#include "runtime/gpu/gpu_device.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include "runtime/device/checked_run.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/gpu/capture.h"
#include "runtime/gpu/clock.h"
#include "runtime/gpu/compare.h"
#include "runtime/gpu/gpu.h"
#include "runtime/gpu/kernel.h"
#include "runtime/gpu/shared_memory.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

at::Tensor empty_on_device(const ir::TensorType& type) {
  return at::empty_strided(type.shape, type.strides, at::TensorOptions(scalar_type(type.dtype)).device(graph_device()));
}

/// Device memory has no guard pages: a zone of canary bytes lies before and after the buffer.
class ZonedBuffer final : public CheckedMemory {
 public:
  explicit ZonedBuffer(int64_t size_bytes)
      : memory_(at::empty({2 * kZoneBytes + size_bytes}, at::TensorOptions().device(graph_device()).dtype(at::kByte))
                    .fill_(kCanary)),
        bytes_(memory_.narrow(0, kZoneBytes, size_bytes)) {}
  const at::Tensor& bytes() const override { return bytes_; }
  std::optional<int64_t> broken_canary() const override {
    const at::Tensor after = memory_.narrow(0, kZoneBytes + bytes_.numel(), kZoneBytes).ne(kCanary).nonzero();
    if (after.numel() > 0) return after.min().item<int64_t>();
    const at::Tensor before = memory_.narrow(0, 0, kZoneBytes).ne(kCanary).nonzero();
    if (before.numel() > 0) return before.max().item<int64_t>() - kZoneBytes;
    return std::nullopt;
  }
  at::Tensor is_overrun() const override {
    const at::Tensor zones = memory_.as_strided({2, kZoneBytes}, {kZoneBytes + bytes_.numel(), 1});
    return zones.ne(kCanary).any();
  }

 private:
  static constexpr int64_t kZoneBytes = int64_t{1} << 20;
  static constexpr unsigned char kCanary = 0xC7;
  at::Tensor memory_;
  at::Tensor bytes_;
};

class GpuHost final : public KernelHost {
 public:
  explicit GpuHost(const std::vector<FusedList>& lists) : lists_(lists) {}
  Result<void> load() {
    for (const FusedList& list : lists_) {
      launches_.emplace_back();
      for (size_t i = 0; i < list.kernels.size(); ++i) {
        PASSNET_TRY(std::shared_ptr<const gpu::Kernel> kernel, gpu::Kernel::load(list.kernels[i]));
        launches_.back().emplace_back(list.launches.launches[i], std::move(kernel));
      }
    }
    return {};
  }
  at::Tensor allocate(size_t list, size_t buffer) override {
    return empty_on_device(lists_[list].launches.buffers[buffer].type);
  }
  std::unique_ptr<CheckedMemory> allocate_checked(size_t list, size_t buffer) override {
    return std::make_unique<ZonedBuffer>(extent_bytes(lists_[list].launches.buffers[buffer].type));
  }
  void launch(size_t list, size_t index, char* const* buffers) override { launches_[list][index].run(buffers); }
  size_t calls_at_a_time() const override { return 1; }
  void require_same_variables(size_t list, size_t index) override {
    const std::optional<std::string> changed = launches_[list][index].find_changed_variable();
    if (!changed) return;
    const pass::LaunchList& launches = lists_[list].launches;
    const pass::Launch& launch = launches.launches[index];
    throw KernelFault{"out-of-bounds",
                      fmt::format("{} wrote to '{}', which outlives a launch: kernels may only write to their "
                                  "arguments and to shared memory",
                                  describe_kernel(launches, launch), *changed),
                      launch.at, false, describe_launch(launches, launch)};
  }
  void require_intact() override {
    if (!compares_canaries) return;
    gpu::synchronize();
    for (size_t list = 0; list < launches_.size(); ++list) {
      for (size_t index = 0; index < launches_[list].size(); ++index) require_same_variables(list, index);
    }
  }

 private:
  const std::vector<FusedList>& lists_;
  std::vector<std::vector<gpu::ReadyLaunch>> launches_;  // by list
};

class GpuDevice final : public Device {
 public:
  std::string name() const override { return gpu::name(); }
  std::string architecture() const override { return gpu::architecture(); }
  at::Tensor allocate(const ir::TensorType& type) override { return empty_on_device(type); }
  Result<SharedBytes> allocate_shared(int64_t size_bytes) override { return gpu::allocate_shared(size_bytes); }
  Result<at::Tensor> open_shared(int memory, int64_t size_bytes) override {
    return gpu::open_shared(memory, size_bytes);
  }
  Result<std::unique_ptr<KernelHost>> host(const std::vector<FusedList>& lists) override {
    auto host = std::make_unique<GpuHost>(lists);
    PASSNET_TRY_VOID(host->load());
    return std::unique_ptr<KernelHost>(std::move(host));
  }
  void synchronize() override { gpu::synchronize(); }
  bool has_stopped() const override { return gpu::has_stopped(); }
  std::unique_ptr<CallClock> make_clock() override { return std::make_unique<gpu::DeviceClock>(); }
  std::unique_ptr<CallClock> make_span_clock() override {
    return std::make_unique<gpu::DeviceClock>(gpu::DeviceClock::Reads::Span);
  }
  std::unique_ptr<OutputComparison> compare_with(const std::vector<c10::IValue>& outputs) override {
    return std::make_unique<gpu::BitComparison>(outputs);
  }
  void flush_cache() override { gpu::flush_cache(); }
  DeviceCondition condition() const override { return gpu::condition(); }
  int64_t room_bytes() const override { return gpu::room_bytes(); }
  std::optional<record::DeviceMemory> give_back_memory() override { return gpu::give_back_memory(); }
  void make_room() override { gpu::make_room(); }
  bool can_record() const override { return true; }
  Result<std::unique_ptr<RecordedCall>> record(const RecordedCall::Run& run,
                                               const std::vector<at::Tensor>& inputs) override {
    return gpu::record_call(run, inputs);
  }
};

}  // namespace

Result<std::unique_ptr<Device>> start_gpu(int index) {
  PASSNET_TRY(const c10::Device place, gpu::start(index));
  set_graph_device(place);
  return make_gpu_device();
}

void preload_gpu() { (void)gpu::open_torch(); }

std::unique_ptr<Device> make_gpu_device() { return std::make_unique<GpuDevice>(); }

}  // namespace passnet::runtime
