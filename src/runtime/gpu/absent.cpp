// Stands in for the rest of gpu/ in a build without CUDA: `make demo` on a machine without a GPU, or a PyTorch without
// CUDA's headers.
#include "runtime/gpu/gpu_device.h"

namespace passnet::runtime {

Result<std::unique_ptr<Device>> start_gpu(int) {
  return resource_error("this passnet-worker was built without CUDA")
      .with_hint("run 'make build', with a PyTorch for CUDA and nvidia-cuda-runtime, or use --device cpu");
}

}  // namespace passnet::runtime
