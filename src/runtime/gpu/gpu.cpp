#include "runtime/gpu/gpu.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "base/text/strings.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/gpu/driver.h"

namespace passnet::runtime::gpu {

namespace {

struct Device {
  int index = 0;
  Lane lane;
  std::string name, architecture;
  at::Tensor scratch;  // for flush_cache
};
// Never destroyed: PyTorch's allocator is gone before the statics of this file.
Device& device = *new Device;
thread_local const Lane* of_thread = nullptr;

std::string attribute_text(CUdevice handle) {
  int major = 0, minor = 0;
  check(driver().cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle),
        "reading the device");
  check(driver().cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle),
        "reading the device");
  return fmt::format("sm_{}{}", major, minor);
}

void prepare(int index) {
  const c10::Device torch_device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index));
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  if (index >= guard.deviceCount())
    throw std::runtime_error(fmt::format("device {} of {}", index, guard.deviceCount()));
  guard.setDevice(torch_device);
  // A stream of our own: the default one cannot be captured.
  const c10::Stream own = guard.getStreamFromGlobalPool(torch_device, false);
  guard.exchangeStream(own);
  device.index = index;
  device.lane.stream = static_cast<CUstream>(guard.getStreamNativeHandle(own));
  // The first product costs what belongs to no graph: handles, workspaces, kernels loaded.
  const at::TensorOptions options = at::TensorOptions().device(torch_device).dtype(at::kFloat);
  (void)at::matmul(at::ones({8, 8}, options), at::ones({8, 8}, options));
  check(driver().cuStreamSynchronize(device.lane.stream), "the first product on the GPU");
  check(driver().cuCtxGetCurrent(&device.lane.context), "reading the context");
  CUdevice handle = 0;
  check(driver().cuDeviceGet(&handle, index), "reading the device");
  char text[256] = {};
  check(driver().cuDeviceGetName(text, sizeof text, handle), "reading the device's name");
  device.name = text;
  device.architecture = attribute_text(handle);
  int cache_bytes = 0;
  check(driver().cuDeviceGetAttribute(&cache_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, handle), "reading the device");
  device.scratch = at::empty({3 * std::max<int64_t>(cache_bytes, int64_t{8} << 20)}, options.dtype(at::kByte));
}

}  // namespace

void* open_torch() { return ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL); }

Result<c10::Device> start(int index) {
  PASSNET_TRY_VOID(load_driver());
  if (const CUresult done = driver().cuInit(0); done != CUDA_SUCCESS)
    return resource_error(fmt::format("the CUDA driver does not start: {}", describe(done)))
        .with_hint("is there a GPU, and may this user open /dev/nvidia*? Else --device cpu");
  // Calls of microseconds are waited for: spin rather than sleep. No matter if it is refused.
  if (CUdevice handle = 0; driver().cuDeviceGet(&handle, index) == CUDA_SUCCESS)
    (void)driver().cuDevicePrimaryCtxSetFlags(handle, CU_CTX_SCHED_SPIN);
  if (open_torch() == nullptr)
    return resource_error(fmt::format("PyTorch has no CUDA part: {}", ::dlerror()))
        .with_hint("install a PyTorch built for CUDA with all it depends on: pip install torch==2.11.0");
  try {
    prepare(index);
  } catch (const std::exception& problem) {
    return resource_error(fmt::format("cuda:{} cannot be used: {}", index, first_line(problem.what())));
  }
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index));
}

std::string name() { return device.name; }
std::string architecture() { return device.architecture; }
const Lane* exchange_lane(const Lane* lane) { return std::exchange(of_thread, lane); }
CUstream stream() { return of_thread != nullptr ? of_thread->stream : device.lane.stream; }
CUcontext context() { return of_thread != nullptr ? of_thread->context : device.lane.context; }

void synchronize() {
  const CUresult done = driver().cuStreamSynchronize(stream());
  if (done == CUDA_SUCCESS) return;
  const bool outside = done == CUDA_ERROR_ILLEGAL_ADDRESS || done == CUDA_ERROR_MISALIGNED_ADDRESS ||
                       done == CUDA_ERROR_INVALID_ADDRESS_SPACE;
  throw KernelFault{outside ? "out-of-bounds" : "crash", fmt::format("the GPU stopped: {}", describe(done)), {}, true};
}

void flush_cache() {
  check(driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(device.scratch.data_ptr()), 0,
                                 static_cast<size_t>(device.scratch.nbytes()), device.lane.stream),
        "flushing the cache");
}

namespace {
// NVIDIA's management library, opened when first asked for; without it there is nothing to report.
struct Management {
  int (*init)() = nullptr;
  int (*handle)(unsigned, void**) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*temperature)(void*, int, unsigned*) = nullptr;
  void* device = nullptr;

  Management() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, symbol));
      return function != nullptr;
    };
    const bool complete = find(init, "nvmlInit_v2") && find(handle, "nvmlDeviceGetHandleByIndex_v2") &&
                          find(clock, "nvmlDeviceGetClockInfo") && find(temperature, "nvmlDeviceGetTemperature");
    if (!complete || init() != 0 || handle(static_cast<unsigned>(gpu::device.index), &device) != 0) device = nullptr;
  }
};
constexpr int kSmClock = 1, kGpuTemperature = 0;  // NVML_CLOCK_SM, NVML_TEMPERATURE_GPU
/// Age up to which a reading is given again: a new one takes as long as several calls of a graph.
constexpr std::chrono::milliseconds kMostAge{100};
}  // namespace

DeviceCondition condition() {
  using Clock = std::chrono::steady_clock;
  static const Management management;
  static DeviceCondition found;
  static std::optional<Clock::time_point> read_at;
  if (management.device == nullptr || (read_at && Clock::now() - *read_at < kMostAge)) return found;
  read_at = Clock::now();
  unsigned value = 0;
  if (management.clock(management.device, kSmClock, &value) == 0) found.sm_mhz = static_cast<int>(value);
  if (management.temperature(management.device, kGpuTemperature, &value) == 0)
    found.temperature_c = static_cast<int>(value);
  return found;
}

}  // namespace passnet::runtime::gpu
