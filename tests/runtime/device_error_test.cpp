// Messages as PyTorch 2.11, its libraries and the driver write them, and whose fault they are.
#include "runtime/device/device_error.h"

#include <gtest/gtest.h>

namespace passnet::runtime {
namespace {

struct Case {
  const char* message;
  DeviceFault fault;
  bool ends_process = false;
};

constexpr Case kCases[] = {
    // The memory is full.
    {"'torch.conv2d': CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 139.80 GiB of "
     "which 3.06 MiB is free.",
     DeviceFault::Memory},
    {"NVML_SUCCESS == DriverAPI::get()->nvmlInit_v2_() INTERNAL ASSERT FAILED at "
     "\"/pytorch/c10/cuda/CUDACachingAllocator.cpp\":1135, please report a bug to PyTorch.",
     DeviceFault::Memory},
    {"CUDA error: out of memory", DeviceFault::Memory},
    {"allocating what holds up the stream: CUDA_ERROR_OUT_OF_MEMORY: out of memory", DeviceFault::Memory},
    {"cannot load kernel 'add' on the GPU: CUDA_ERROR_OUT_OF_MEMORY: out of memory", DeviceFault::Memory},
    {"'torch.matmul': CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", DeviceFault::Memory},
    {"CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", DeviceFault::Memory},
    {"cuDNN error: CUDNN_STATUS_ALLOC_FAILED", DeviceFault::Memory},
    {"cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", DeviceFault::Memory},
    {"cuFFT error: CUFFT_ALLOC_FAILED", DeviceFault::Memory},
    {"cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`", DeviceFault::Memory},
    // The device, its driver or a library failed.
    {"CUDA error: uncorrectable ECC error encountered", DeviceFault::Device, true},
    {"the GPU stopped: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered", DeviceFault::Device, true},
    {"CUDA error: all CUDA-capable devices are busy or unavailable", DeviceFault::Device},
    {"CUDA error: no kernel image is available for execution on the device", DeviceFault::Device},
    {"CUDA error: unknown error", DeviceFault::Device, true},
    {"CUDA error: driver shutting down", DeviceFault::Device, true},
    {"CUDA error: initialization error", DeviceFault::Device},
    {"the CUDA driver does not start: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", DeviceFault::Device},
    // The graph asked for what cannot be.
    {"CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert' in https://docs.nvidia.com/cuda/",
     DeviceFault::Graph, true},
    {"the GPU stopped: CUDA_ERROR_ASSERT: device-side assert triggered", DeviceFault::Graph, true},
    {"CUDA error: invalid configuration argument", DeviceFault::Graph},
    {"CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx(handle, opa, opb)`", DeviceFault::Graph},
    {"cuDNN error: CUDNN_STATUS_NOT_SUPPORTED_SHAPE", DeviceFault::Graph},
    {"cuFFT error: CUFFT_INVALID_SIZE", DeviceFault::Graph},
    // The text does not say.
    {"CUDA error: an illegal memory access was encountered", DeviceFault::Unclear, true},
    {"the GPU stopped: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", DeviceFault::Unclear,
     true},
    {"CUDA error: misaligned address", DeviceFault::Unclear, true},
    {"CUDA error: unspecified launch failure", DeviceFault::Unclear, true},
    {"CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(handle)`", DeviceFault::Unclear},
    {"CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasLtMatmul(ltHandle)`", DeviceFault::Unclear},
    {"cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", DeviceFault::Unclear},
    {"GET was unable to find an engine to execute this computation", DeviceFault::Unclear},
    {"CUDA error: an error that nobody has seen yet", DeviceFault::Unclear},
    // Not of the device.
    {"mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", DeviceFault::None},
    {"Expected all tensors to be on the same device, but got other is on cpu, different from other tensors on cuda:0",
     DeviceFault::None},
    {"CUDA error: operation not permitted when stream is capturing", DeviceFault::None},
    {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: operation failed due to a previous error during capture",
     DeviceFault::None},
    {"index 7 is out of bounds for dimension 0 with size 5", DeviceFault::None},
    {"", DeviceFault::None},
};

TEST(DeviceError, IsToldByItsText) {
  for (const Case& one : kCases) {
    const DeviceError error = classify_device_error(one.message);
    EXPECT_EQ(static_cast<int>(error.fault), static_cast<int>(one.fault)) << one.message;
    EXPECT_EQ(error.ends_process, one.ends_process) << one.message;
  }
}

TEST(Blame, OfAFullOrBrokenDeviceIsTheMachinesAndFreshWorkersMayHelp) {
  for (const char* kind : {"bad-input", "internal", "bad-pass", "crash"}) {
    const Blame full =
        blame(kind, "'torch.matmul': CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
    EXPECT_EQ(full.kind, "resource") << kind;
    EXPECT_TRUE(full.retry) << kind;
    EXPECT_FALSE(full.ends_worker) << kind;
  }
  const Blame broken = blame(
      "crash",
      "kernel 'f' of pass 'p': the GPU stopped: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered");
  EXPECT_EQ(broken.kind, "resource");
  EXPECT_TRUE(broken.retry && broken.ends_worker);
}

TEST(Blame, OfAnAssertIsTheGraphsAndTheWorkerEnds) {
  for (const char* kind : {"bad-input", "internal"}) {
    const Blame one = blame(kind, "CUDA error: device-side assert triggered");
    EXPECT_EQ(one.kind, "bad-input");
    EXPECT_FALSE(one.retry);
    EXPECT_TRUE(one.ends_worker);
  }
}

TEST(Blame, IsTheGraphsAfterASecondTryWhereTheTextDoesNotTell) {
  const Blame one = blame("internal", "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED");
  EXPECT_EQ(one.kind, "bad-input");
  EXPECT_TRUE(one.retry);
}

TEST(Blame, StaysWithThePass) {
  const Blame outside = blame(
      "out-of-bounds",
      "kernel 'f' of pass 'p': the GPU stopped: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
  EXPECT_EQ(outside.kind, "out-of-bounds");
  EXPECT_FALSE(outside.retry);
  EXPECT_TRUE(outside.ends_worker);
  const Blame refused = blame(
      "bad-pass",
      "kernel 'f' cannot be launched: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch");
  EXPECT_EQ(refused.kind, "bad-pass");
  EXPECT_FALSE(refused.retry || refused.ends_worker);
  EXPECT_EQ(blame("bad-pass", "cannot load kernel 'f' on the GPU: CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image").kind,
            "bad-pass");
}

TEST(Blame, LeavesOtherErrorsAsTheyAre) {
  for (const char* kind : {"bad-input", "unsupported", "resource", "internal"}) {
    const Blame one = blame(kind, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
    EXPECT_EQ(one.kind, kind);
    EXPECT_FALSE(one.retry || one.ends_worker);
  }
  // What keeps a call from being recorded is no fault of the graph's.
  EXPECT_EQ(blame("unsupported", "CUDA_ERROR_INVALID_VALUE: invalid argument").kind, "unsupported");
}

}  // namespace
}  // namespace passnet::runtime
