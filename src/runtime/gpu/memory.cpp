#include <ATen/core/CachingHostAllocator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>

#include "runtime/gpu/driver.h"
#include "runtime/gpu/gpu.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime::gpu {

namespace {

constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

int64_t reserved_bytes(c10::DeviceAllocator& allocator) {
  return allocator.getDeviceStats(graph_device().index()).reserved_bytes[kAll].current;
}

}  // namespace

record::DeviceMemory give_back_memory() {
  c10::DeviceAllocator& allocator = *c10::getDeviceAllocator(c10::DeviceType::CUDA);
  const c10::DeviceIndex index = graph_device().index();
  synchronize();
  record::DeviceMemory use;
  use.peak_bytes = allocator.getDeviceStats(index).reserved_bytes[kAll].peak;
  // Plans of Fourier transforms hold tables on the device, and are kept by the thousand.
  at::detail::getCUDAHooks().cuFFTClearPlanCache(index);
  allocator.emptyCache();  // memory pools of recordings that are gone included
  at::getHostAllocator(at::kCUDA)->empty_cache();
  use.kept_bytes = reserved_bytes(allocator);
  allocator.resetPeakStats(index);
  return use;
}

int64_t room_bytes() {
  constexpr size_t kEnough = size_t{32} << 30, kShare = 6;
  size_t free = 0, all = 0;
  check(driver().cuMemGetInfo(&free, &all), "asking for the memory that is free");
  return static_cast<int64_t>(std::min(kEnough, free / kShare));
}

void make_room() {
  constexpr int64_t kMuch = int64_t{1} << 30;
  c10::DeviceAllocator& allocator = *c10::getDeviceAllocator(c10::DeviceType::CUDA);
  const int64_t used = allocator.getDeviceStats(graph_device().index()).allocated_bytes[kAll].current;
  if (reserved_bytes(allocator) - used > kMuch) allocator.emptyCache();
}

bool has_stopped() { return driver().cuStreamSynchronize(stream()) != CUDA_SUCCESS; }

}  // namespace passnet::runtime::gpu
