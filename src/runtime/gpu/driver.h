// The CUDA driver, opened at run time. Needs CUDA's headers, not its libraries. Internal to runtime/gpu*.
#pragma once

#include <cuda.h>

#include <string>

#include "base/result.h"

namespace passnet::runtime::gpu {

// cuda.h renames functions to their current versions (cuStreamBeginCapture to …_v2); these are the names it means.
// clang-format off
#define PASSNET_DRIVER_FUNCTIONS(X)                                                                                  \
  X(cuInit) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGet) X(cuDeviceGetAttribute)       \
  X(cuDeviceGetName) X(cuDevicePrimaryCtxSetFlags) X(cuDevicePrimaryCtxRetain) X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal) X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuFuncSetAttribute) \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing) X(cuStreamSynchronize)                        \
  X(cuStreamCreate) X(cuStreamWaitEvent) X(cuEventCreate)                                                            \
  X(cuEventDestroy) X(cuEventRecord) X(cuEventQuery) X(cuEventElapsedTime) X(cuMemcpyDtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpy3DAsync)   \
  X(cuMemsetD8Async) X(cuMemsetD16Async) X(cuMemsetD32Async) X(cuPointerGetAttribute) X(cuGraphDestroy)              \
  X(cuGraphGetNodes) X(cuGraphGetEdges) X(cuGraphNodeGetType) X(cuGraphKernelNodeGetParams)                          \
  X(cuGraphKernelNodeGetAttribute) X(cuGraphMemcpyNodeGetParams) X(cuGraphMemsetNodeGetParams)                       \
  X(cuGraphClone) X(cuGraphNodeFindInClone) X(cuGraphDestroyNode) X(cuGraphInstantiateWithFlags) X(cuGraphExecDestroy) X(cuGraphUpload) X(cuGraphLaunch)                             \
  X(cuGraphExecKernelNodeSetParams) X(cuGraphExecMemcpyNodeSetParams) X(cuGraphExecMemsetNodeSetParams)              \
  X(cuFuncGetParamInfo) X(cuKernelGetFunction) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuMemHostAlloc) X(cuMemFreeHost)                 \
  X(cuMemHostGetDevicePointer) X(cuMemGetAddressRange) X(cuMemGetInfo) X(cuMemGetAllocationGranularity)            \
  X(cuMemCreate) X(cuMemRelease) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemMap) X(cuMemUnmap)                \
  X(cuMemSetAccess) X(cuMemExportToShareableHandle) X(cuMemImportFromShareableHandle)
// clang-format on

struct Driver {
#define PASSNET_DECLARE(name) decltype(&::name) name = nullptr;
  PASSNET_DRIVER_FUNCTIONS(PASSNET_DECLARE)
#undef PASSNET_DECLARE
};

/// Opens libcuda.so.1. Errors: Resource.
Result<void> load_driver();
const Driver& driver();

/// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
std::string describe(CUresult result);
/// Throws std::runtime_error with what was tried, unless `result` is success.
void check(CUresult result, const char* what);

/// A kernel of ours from its PTX, which names it `name`. It stays loaded.
CUfunction load_function(const char* ptx, const char* name);

/// A stream of a device, and the context of the device.
struct Lane {
  CUstream stream = nullptr;
  CUcontext context = nullptr;
};
/// The lane that this thread works in from now on; null: that of the worker, made by start(). Returns the one before.
const Lane* exchange_lane(const Lane* lane);
/// Of this thread's lane.
CUstream stream();
CUcontext context();

}  // namespace passnet::runtime::gpu
