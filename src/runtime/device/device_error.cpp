#include "runtime/device/device_error.h"

#include <algorithm>

namespace passnet::runtime {

namespace {

struct Cause {
  std::string_view words;
  DeviceFault fault;
  bool ends_process = false;
};

// The first row whose words are in the message applies. The driver's errors have a text (cuGetErrorString, which
// PyTorch prints) and a name (which our own calls print too); the libraries' have names only.
constexpr Cause kCauses[] = {
    // A recording that cannot be made is no failure of anything: the operators are called one by one.
    {"stream is capturing", DeviceFault::None},
    {"STREAM_CAPTURE_", DeviceFault::None},

    {"CUDA out of memory", DeviceFault::Memory},  // PyTorch's allocator
    // So does it, when it cannot ask NVML who has the memory, as in a process that may open no device any more.
    {"nvmlInit_v2_() INTERNAL ASSERT FAILED at \"/pytorch/c10/cuda/CUDACachingAllocator.cpp\"", DeviceFault::Memory},
    {"CUDA error: out of memory", DeviceFault::Memory},
    {"CUDA driver error: out of memory", DeviceFault::Memory},
    {"CUDA_ERROR_OUT_OF_MEMORY", DeviceFault::Memory},
    {"cudaErrorMemoryAllocation", DeviceFault::Memory},
    {"CUBLAS_STATUS_ALLOC_FAILED", DeviceFault::Memory},
    // cublasCreate says so when it finds no memory for its workspace.
    {"CUBLAS_STATUS_NOT_INITIALIZED", DeviceFault::Memory},
    {"CUDNN_STATUS_ALLOC_FAILED", DeviceFault::Memory},
    {"DEVICE_ALLOCATION_FAILED", DeviceFault::Memory},  // CUDNN_STATUS_INTERNAL_ERROR_…
    {"HOST_ALLOCATION_FAILED", DeviceFault::Memory},
    {"CUDNN_STATUS_NOT_INITIALIZED", DeviceFault::Memory},
    {"CUSOLVER_STATUS_ALLOC_FAILED", DeviceFault::Memory},
    {"CUSOLVER_STATUS_NOT_INITIALIZED", DeviceFault::Memory},
    {"CUSPARSE_STATUS_ALLOC_FAILED", DeviceFault::Memory},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", DeviceFault::Memory},
    {"CUFFT_ALLOC_FAILED", DeviceFault::Memory},

    {"device-side assert triggered", DeviceFault::Graph, true},  // an operator's check of an index
    {"CUDA_ERROR_ASSERT", DeviceFault::Graph, true},
    {"invalid configuration argument", DeviceFault::Graph},  // a grid larger than there are
    {"too many resources requested for launch", DeviceFault::Graph},
    {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", DeviceFault::Graph},
    {"CUDA_ERROR_INVALID_VALUE", DeviceFault::Graph},
    {"CUBLAS_STATUS_INVALID_VALUE", DeviceFault::Graph},
    {"CUBLAS_STATUS_NOT_SUPPORTED", DeviceFault::Graph},
    {"CUDNN_STATUS_NOT_SUPPORTED", DeviceFault::Graph},
    {"CUDNN_STATUS_BAD_PARAM", DeviceFault::Graph},
    {"CUSOLVER_STATUS_INVALID_VALUE", DeviceFault::Graph},
    {"CUSPARSE_STATUS_INVALID_VALUE", DeviceFault::Graph},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", DeviceFault::Graph},
    {"CUFFT_INVALID_SIZE", DeviceFault::Graph},
    {"CUFFT_INVALID_VALUE", DeviceFault::Graph},
    {"CUFFT_NOT_SUPPORTED", DeviceFault::Graph},

    // An operator that was led astray by the graph's data, or a process that something else has spoiled.
    {"illegal memory access", DeviceFault::Unclear, true},
    {"CUDA_ERROR_ILLEGAL_ADDRESS", DeviceFault::Unclear, true},
    {"misaligned address", DeviceFault::Unclear, true},
    {"CUDA_ERROR_MISALIGNED_ADDRESS", DeviceFault::Unclear, true},
    {"operation not supported on global/shared address space", DeviceFault::Unclear, true},
    {"CUDA_ERROR_INVALID_ADDRESS_SPACE", DeviceFault::Unclear, true},
    {"unspecified launch failure", DeviceFault::Unclear, true},
    {"CUDA_ERROR_LAUNCH_FAILED", DeviceFault::Unclear, true},
    {"an illegal instruction was encountered", DeviceFault::Unclear, true},
    {"CUDA_ERROR_ILLEGAL_INSTRUCTION", DeviceFault::Unclear, true},
    {"invalid program counter", DeviceFault::Unclear, true},
    {"CUDA_ERROR_INVALID_PC", DeviceFault::Unclear, true},
    {"the launch timed out and was terminated", DeviceFault::Unclear, true},
    {"CUDA_ERROR_LAUNCH_TIMEOUT", DeviceFault::Unclear, true},

    {"uncorrectable ECC error", DeviceFault::Device, true},
    {"CUDA_ERROR_ECC_UNCORRECTABLE", DeviceFault::Device, true},
    {"hardware stack error", DeviceFault::Device, true},
    {"CUDA_ERROR_HARDWARE_STACK_ERROR", DeviceFault::Device, true},
    {"uncorrectable NVLink error", DeviceFault::Device, true},
    {"CUDA_ERROR_NVLINK_UNCORRECTABLE", DeviceFault::Device, true},
    {"Invalid access of peer GPU memory", DeviceFault::Device, true},
    {"CUDA_ERROR_CONTAINED", DeviceFault::Device, true},
    {"context is destroyed", DeviceFault::Device, true},
    {"driver shutting down", DeviceFault::Device, true},
    {"CUDA_ERROR_DEINITIALIZED", DeviceFault::Device, true},
    {"CUDA error: unknown error", DeviceFault::Device, true},
    {"CUDA_ERROR_UNKNOWN", DeviceFault::Device, true},
    {"busy or unavailable", DeviceFault::Device},
    {"CUDA_ERROR_DEVICE_UNAVAILABLE", DeviceFault::Device},
    {"no CUDA-capable device", DeviceFault::Device},
    {"CUDA_ERROR_NO_DEVICE", DeviceFault::Device},
    {"invalid device ordinal", DeviceFault::Device},
    {"no kernel image is available", DeviceFault::Device},
    {"CUDA_ERROR_NO_BINARY_FOR_GPU", DeviceFault::Device},
    {"driver version is insufficient", DeviceFault::Device},
    {"CUDA error: initialization error", DeviceFault::Device},
    {"CUDA_ERROR_NOT_INITIALIZED", DeviceFault::Device},
    {"system not yet initialized", DeviceFault::Device},
    {"CUDA_ERROR_SYSTEM_NOT_READY", DeviceFault::Device},
    {"CUDA_ERROR_OPERATING_SYSTEM", DeviceFault::Device},
    {"CUBLAS_STATUS_ARCH_MISMATCH", DeviceFault::Device},
    {"CUDNN_STATUS_ARCH_MISMATCH", DeviceFault::Device},
    {"CUDNN_STATUS_VERSION_MISMATCH", DeviceFault::Device},

    // PyTorch tries one algorithm after the other; it says this when none was left, for want of one or of memory.
    {"unable to find an engine to execute this computation", DeviceFault::Unclear},
    {"Unable to find a valid cuDNN algorithm", DeviceFault::Unclear},
    // What is left of the calls that are known to go wrong.
    {"CUDA error: ", DeviceFault::Unclear},
    {"CUDA driver error: ", DeviceFault::Unclear},
    {"CUDA_ERROR_", DeviceFault::Unclear},
    {"CUBLAS_STATUS_", DeviceFault::Unclear},
    {"CUDNN_STATUS_", DeviceFault::Unclear},
    {"CUSOLVER_STATUS_", DeviceFault::Unclear},
    {"CUSPARSE_STATUS_", DeviceFault::Unclear},
    {"cuFFT error: ", DeviceFault::Unclear},
};

/// Kinds that blame the pass.
bool is_of_a_pass(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"bad-pass", "crash", "out-of-bounds", "unwritten-output", "input-changed"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

}  // namespace

DeviceError classify_device_error(std::string_view message) {
  for (const Cause& row : kCauses) {
    if (message.find(row.words) != std::string_view::npos) return {row.fault, row.ends_process};
  }
  return {};
}

Blame blame(std::string_view kind, std::string_view message) {
  const DeviceError error = classify_device_error(message);
  // A kernel that was built for another processor is the pass's, and says so in the words of a driver that lacks
  // something.
  const bool machine = error.fault == DeviceFault::Memory || (error.fault == DeviceFault::Device && kind != "bad-pass");
  if (machine) return {"resource", true, error.ends_process};
  if (error.fault == DeviceFault::None || kind == "unsupported" || is_of_a_pass(kind))
    return {std::string(kind), false, error.ends_process};
  return {"bad-input", error.fault == DeviceFault::Unclear, error.ends_process};
}

}  // namespace passnet::runtime
