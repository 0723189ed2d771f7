// Memory that belongs to a recorded call: what PyTorch allocates while a pool is current comes from it and goes back to
// it only, so nobody else gets what the recorded kernels use. Internal to runtime/gpu*.
#pragma once

#include <cstdint>

namespace passnet::runtime::gpu {

class MemoryPool {
 public:
  MemoryPool();
  ~MemoryPool();  // gives the memory back; tensors in it must be gone
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Makes the pool current for its lifetime. REQUIRES: at most once per pool at a time.
  class Use {
   public:
    explicit Use(MemoryPool& pool);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    MemoryPool& pool_;
  };

 private:
  uint64_t id_;
  bool used_ = false;
};

}  // namespace passnet::runtime::gpu
