#include "runtime/gpu/on_gpu.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <array>
#include <mutex>

#include "base/check.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/tensor/thread_device.h"

namespace passnet::runtime {

struct OnGpu::Lane : gpu::Lane {
  const gpu::Lane* before = nullptr;
};

namespace {

/// A GPU that is used. Written once.
struct Used {
  CUcontext context = nullptr;
  CUstream own = nullptr;
  std::mutex turn;          // held by a recorded call, and by whoever uses our own stream
  CUevent done = nullptr;   // the last recorded call
  CUstream last = nullptr;  // which it went to
};
constexpr size_t kMostDevices = 64;
// Never destroyed: models may be called as long as the process lives.
std::array<Used, kMostDevices>& used = *new std::array<Used, kMostDevices>;

/// Makes a context current, and what was current before again at the end.
class InContext {
 public:
  explicit InContext(CUcontext context) {
    gpu::check(gpu::driver().cuCtxGetCurrent(&before_), "reading the context");
    gpu::check(gpu::driver().cuCtxSetCurrent(context), "setting the context");
  }
  ~InContext() { gpu::driver().cuCtxSetCurrent(before_); }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  CUcontext before_ = nullptr;
};

void prepare_used(Used& device, int index) {
  gpu::check(gpu::driver().cuInit(0), "starting the CUDA driver");
  CUdevice handle = 0;
  gpu::check(gpu::driver().cuDeviceGet(&handle, index), "reading the device");
  CUcontext context = nullptr;
  gpu::check(gpu::driver().cuDevicePrimaryCtxRetain(&context, handle), "reading the context");
  const InContext current(context);
  gpu::check(gpu::driver().cuStreamCreate(&device.own, CU_STREAM_NON_BLOCKING), "making a stream");
  gpu::check(gpu::driver().cuEventCreate(&device.done, CU_EVENT_DISABLE_TIMING), "making an event");
  device.context = context;
}

c10::Device cuda_device(c10::DeviceIndex index) { return {c10::DeviceType::CUDA, index}; }
const c10::impl::VirtualGuardImpl& torch_guard() {
  static const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  return guard;
}

}  // namespace

Result<std::unique_ptr<Device>> use_gpu(c10::DeviceIndex index) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (index < 0 || static_cast<size_t>(index) >= kMostDevices)
    return resource_error(fmt::format("cuda:{} cannot be used: expected a device below {}", index, kMostDevices));
  static const Result<void> loaded = gpu::load_driver();
  if (!loaded) return loaded.error();
  try {
    if (used[index].context == nullptr) prepare_used(used[index], index);
  } catch (const std::exception& problem) {
    return resource_error(fmt::format("cuda:{} cannot be used: {}", index, problem.what()));
  }
  return make_gpu_device();
}

OnGpu::OnGpu(c10::DeviceIndex index, Stream which)
    : device_(cuda_device(index)),
      device_before_(torch_guard().exchangeDevice(device_)),
      stream_before_(torch_guard().getStream(device_)),
      own_(which == Stream::Own),
      lane_(std::make_unique<Lane>()) {
  Used& device = used[index];
  PASSNET_CHECK(device.context != nullptr, "a GPU that is not in use");
  lane_->context = device.context;
  lane_->stream = static_cast<CUstream>(torch_guard().getStreamNativeHandle(stream_before_));
  CUcontext current = nullptr;
  // A thread that called nothing of CUDA yet has none.
  if (gpu::driver().cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != device.context)
    (void)gpu::driver().cuCtxSetCurrent(device.context);
  if (own_) {
    device.turn.lock();
    (void)gpu::driver().cuStreamSynchronize(lane_->stream);
    lane_->stream = device.own;
    (void)gpu::driver().cuStreamWaitEvent(device.own, device.done, CU_EVENT_WAIT_DEFAULT);
    // PyTorch identifies a stream that it did not make by its handle.
    torch_guard().exchangeStream(
        c10::Stream(c10::Stream::UNSAFE, device_, static_cast<c10::StreamId>(reinterpret_cast<intptr_t>(device.own))));
  }
  graph_device_before_ = exchange_thread_device(device_);
  lane_->before = gpu::exchange_lane(lane_.get());
}

OnGpu::~OnGpu() {
  gpu::exchange_lane(lane_->before);
  exchange_thread_device(graph_device_before_);
  if (own_) {
    (void)gpu::driver().cuStreamSynchronize(lane_->stream);
    torch_guard().exchangeStream(stream_before_);
    used[device_.index()].turn.unlock();
  }
  torch_guard().uncheckedSetDevice(device_before_);
}

bool OnGpu::is_recorded_by_user() const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return gpu::driver().cuStreamIsCapturing(lane_->stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void OnGpu::wait_for_all() const { (void)gpu::driver().cuCtxSynchronize(); }

OnGpu::Turn::Turn(const OnGpu& on) : on_(on) {
  Used& device = used[on.device_.index()];
  device.turn.lock();
  if (device.last != on.lane_->stream)
    (void)gpu::driver().cuStreamWaitEvent(on.lane_->stream, device.done, CU_EVENT_WAIT_DEFAULT);
  device.last = on.lane_->stream;
}

OnGpu::Turn::~Turn() {
  Used& device = used[on_.device_.index()];
  (void)gpu::driver().cuEventRecord(device.done, device.last);
  device.turn.unlock();
}

}  // namespace passnet::runtime
