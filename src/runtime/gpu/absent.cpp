// Stands in for the rest of gpu/ in a build without CUDA's headers (they come with a PyTorch built for CUDA).
#include "runtime/gpu/gpu_device.h"

namespace passnet::runtime {

Result<std::unique_ptr<Device>> start_gpu(int) {
  return resource_error("this passnet was built without CUDA's headers")
      .with_hint(
          "build it with a PyTorch for CUDA and nvidia-cuda-runtime (they lie beside it), or run with --device cpu");
}

}  // namespace passnet::runtime
