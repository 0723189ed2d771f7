// Stands in for the rest of gpu/ in a build without CUDA: `make demo` on a machine without a GPU, or a PyTorch without
// CUDA's headers.
#include "base/check.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/gpu/on_gpu.h"

namespace passnet::runtime {

Result<std::unique_ptr<Device>> start_gpu(int) {
  return resource_error("this passnet-worker was built without CUDA")
      .with_hint("run 'make build', with a PyTorch for CUDA and nvidia-cuda-runtime, or use --device cpu");
}

void preload_gpu() {}

Result<std::unique_ptr<Device>> use_gpu(c10::DeviceIndex) {
  return resource_error("this build of PassNet has no CUDA")
      .with_hint("build it with a PyTorch for CUDA and nvidia-cuda-runtime, or move the model to the CPU");
}

struct OnGpu::Lane {};
OnGpu::OnGpu(c10::DeviceIndex index, Stream)
    : device_(c10::DeviceType::CUDA, index), device_before_(device_), stream_before_(c10::Stream::DEFAULT, device_) {
  PASSNET_CHECK(false, "use_gpu() has not succeeded");
}
OnGpu::~OnGpu() = default;
bool OnGpu::is_recorded_by_user() const { return false; }
void OnGpu::wait_for_all() const {}
OnGpu::Turn::Turn(const OnGpu& on) : on_(on) {}
OnGpu::Turn::~Turn() = default;

}  // namespace passnet::runtime
