#include "runtime/gpu/memory_pool.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>

#include <atomic>
#include <stdexcept>

#include "runtime/gpu/driver.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime::gpu {

namespace {

using c10::cuda::CUDACachingAllocator::CUDAAllocator;

/// PyTorch's allocator for the device. The binary does not link libc10_cuda, so its one variable is looked up in it.
CUDAAllocator& allocator() {
  static CUDAAllocator* const found = [] {
    void* const library = ::dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    auto* variable = static_cast<std::atomic<CUDAAllocator*>*>(
        library == nullptr ? nullptr : ::dlsym(library, "_ZN3c104cuda20CUDACachingAllocator9allocatorE"));
    if (variable == nullptr || variable->load() == nullptr)
      throw std::runtime_error("PyTorch's CUDA allocator is not there");
    return variable->load();
  }();
  return *found;
}

c10::MempoolId_t pool_id(uint64_t id) { return {id, 0}; }

}  // namespace

MemoryPool::MemoryPool() {
  static std::atomic<uint64_t> next{uint64_t{1} << 32};
  id_ = next++;
}

MemoryPool::~MemoryPool() {
  if (used_) allocator().releasePool(graph_device().index(), pool_id(id_));
}

MemoryPool::Use::Use(MemoryPool& pool) : pool_(pool) {
  // The first use makes the pool and counts as its owner; the destructor gives that up.
  allocator().beginAllocateToPool(graph_device().index(), pool_id(pool.id_),
                                  [own = stream()](cudaStream_t asking) { return asking == own; });
  pool.used_ = true;
}

MemoryPool::Use::~Use() { allocator().endAllocateToPool(graph_device().index(), pool_id(pool_.id_)); }

}  // namespace passnet::runtime::gpu
