#include "runtime/cpu/cpu_device.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/from_blob.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <passnet/abi.h>

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "runtime/cpu/fenced_memory.h"
#include "runtime/cpu/launch_ready.h"
#include "runtime/tensor/allocator.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

/// A function of a shared object.
class CpuKernel final : public LoadedKernel {
 public:
  CpuKernel(void* object, passnet_run_fn run) : run(run), object_(object) {}
  ~CpuKernel() override { ::dlclose(object_); }
  CpuKernel(const CpuKernel&) = delete;
  CpuKernel& operator=(const CpuKernel&) = delete;

  const passnet_run_fn run;

 private:
  void* object_;
};

/// Finds the bounds of the object that holds the code at `code_begin`.
int find_code(dl_phdr_info* info, size_t, void* wanted) {
  auto* kernel = static_cast<LoadedKernel*>(wanted);
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) end = std::max<uintptr_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (kernel->code_begin < info->dlpi_addr || kernel->code_begin >= end) return 0;
  kernel->code_begin = info->dlpi_addr;
  kernel->code_end = end;
  return 1;
}

class CpuLaunches final : public ReadyLaunches {
 public:
  CpuLaunches(ThreadPool& pool, const pass::LaunchList& list,
              const std::vector<std::shared_ptr<const LoadedKernel>>& kernels,
              const std::vector<RunningLaunch>& running)
      : pool_(pool), kernels_(kernels), running_(running) {
    for (size_t i = 0; i < kernels.size(); ++i)
      launches_.emplace_back(list.launches[i], static_cast<const CpuKernel&>(*kernels[i]).run);
  }
  void run(size_t index, char* const* buffers) override {
    set_running(&running_[index]);
    launches_[index].run(pool_, buffers);
    set_running(nullptr);
  }

 private:
  ThreadPool& pool_;
  std::vector<std::shared_ptr<const LoadedKernel>> kernels_;
  const std::vector<RunningLaunch>& running_;
  std::vector<LaunchReady> launches_;
};

class FencedBuffer final : public CheckedMemory {
 public:
  FencedBuffer(int64_t size_bytes, const std::string& buffer)
      : memory_(static_cast<size_t>(size_bytes)), bytes_(at::from_blob(memory_.data(), {size_bytes}, at::kByte)) {
    memory_.announce(buffer);
  }
  const at::Tensor& bytes() const override { return bytes_; }
  std::optional<int64_t> broken_canary() const override { return memory_.broken_canary(); }

 private:
  FencedMemory memory_;
  at::Tensor bytes_;
};

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
  explicit CpuDevice(ThreadPool& pool) : pool_(pool) {}

  at::Tensor allocate(const ir::TensorType& type) override {
    return at::detail::empty_strided_cpu(type.shape, type.strides, scalar_type(type.dtype));
  }
  Result<std::shared_ptr<const LoadedKernel>> load_kernel(const KernelFile& file, const std::string& name) override {
    void* object = ::dlopen(file.object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) return bad_pass(fmt::format("cannot load kernel '{}': {}", name, ::dlerror()));
    const auto kernel =
        std::make_shared<CpuKernel>(object, reinterpret_cast<passnet_run_fn>(::dlsym(object, file.entry.c_str())));
    if (kernel->run == nullptr)
      return bad_pass(fmt::format("kernel '{}': '{}' has no function '{}'", name, file.object.string(), file.entry));
    kernel->code_begin = reinterpret_cast<uintptr_t>(kernel->run);
    if (::dl_iterate_phdr(find_code, kernel.get()) == 0) kernel->code_begin = 0;
    return kernel;
  }
  std::unique_ptr<ReadyLaunches> make_ready(const pass::LaunchList& list,
                                            const std::vector<std::shared_ptr<const LoadedKernel>>& kernels,
                                            const std::vector<RunningLaunch>& running) override {
    return std::make_unique<CpuLaunches>(pool_, list, kernels, running);
  }
  std::unique_ptr<CheckedMemory> allocate_checked(int64_t size_bytes, const std::string& buffer) override {
    return std::make_unique<FencedBuffer>(size_bytes, buffer);
  }
  std::unique_ptr<CallClock> make_clock() override { return std::make_unique<HostClock>(*this); }
  std::unique_ptr<OutputComparison> compare_with(const std::vector<c10::IValue>& outputs) override {
    return std::make_unique<FingerprintComparison>(outputs);
  }
  std::optional<DeviceMemory> give_back_memory() override {
    if (cached_bytes() > int64_t{1} << 30) drop_large_blocks();
    return std::nullopt;
  }

 private:
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(ThreadPool& pool) { return std::make_unique<CpuDevice>(pool); }

}  // namespace passnet::runtime
