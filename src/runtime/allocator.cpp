#include "runtime/allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

namespace passnet::runtime {

namespace {

constexpr size_t kHeader = 64;  // before the data: its size class; keeps the data at a multiple of 64
constexpr size_t kSmallest = 64;
constexpr size_t kLargest = size_t{1} << 40;
constexpr int64_t kMaxCached = int64_t{4} << 30;  // what is freed beyond this goes back to the system

/// Free blocks from this size on are kept in the order of their addresses, so that every call of a graph
/// gives the same block to the same operator: its lines are then in the cache of the thread that wrote them
/// at the call before.
constexpr int64_t kOrdered = 16 << 10;

/// Four classes per doubling: at most a fifth of a block is unused.
constexpr size_t class_of(size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const auto log = static_cast<size_t>(std::bit_width(bytes - 1)) - 1;  // 2^log < bytes <= 2^(log + 1)
  const size_t quarter = (bytes - 1 - (size_t{1} << log)) >> (log - 2);
  return (log - 6) * 4 + quarter + 1;
}
constexpr size_t class_bytes(size_t index) {
  if (index == 0) return kSmallest;
  const size_t log = (index - 1) / 4 + 6;
  return (size_t{1} << log) + ((index - 1) % 4 + 1) * (size_t{1} << (log - 2));
}
static_assert(class_bytes(class_of(65)) == 80 && class_bytes(class_of(128)) == 128 &&
              class_bytes(class_of(129)) == 160);
constexpr size_t kClasses = class_of(kLargest) + 1;

struct Block {
  Block* next;
  size_t index;
};

class CachingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CPU)};
    if (bytes > kLargest) throw std::bad_alloc();
    void* data = take(class_of(bytes));
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    std::memcpy(to, from, count);
  }

  int64_t cached() const { return cached_.load(); }

 private:
  void* take(size_t index) {
    {
      const std::lock_guard guard(lock_);
      if (Block* block = free_[index]) {
        free_[index] = block->next;
        cached_.store(cached_.load(std::memory_order_relaxed) - static_cast<int64_t>(class_bytes(index)),
                      std::memory_order_relaxed);
        return reinterpret_cast<char*>(block) + kHeader;
      }
    }
    void* memory = nullptr;
    if (::posix_memalign(&memory, kHeader, kHeader + class_bytes(index)) != 0) throw std::bad_alloc();
    static_cast<Block*>(memory)->index = index;
    return static_cast<char*>(memory) + kHeader;
  }

  void give(void* data) {
    auto* block = reinterpret_cast<Block*>(static_cast<char*>(data) - kHeader);
    const auto bytes = static_cast<int64_t>(class_bytes(block->index));
    {
      const std::lock_guard guard(lock_);
      const int64_t cached = cached_.load(std::memory_order_relaxed) + bytes;
      if (cached <= kMaxCached) {
        cached_.store(cached, std::memory_order_relaxed);
        Block** at = &free_[block->index];
        while (bytes >= kOrdered && *at != nullptr && *at < block) at = &(*at)->next;
        block->next = *at;
        *at = block;
        return;
      }
    }
    std::free(block);
  }

  static void release(void* data);

  /// Held for a few instructions; operators allocate from one thread nearly always.
  struct SpinLock {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    void lock() {
      while (flag.test_and_set(std::memory_order_acquire)) {
      }
    }
    void unlock() { flag.clear(std::memory_order_release); }
  } lock_;
  std::array<Block*, kClasses> free_{};
  std::atomic<int64_t> cached_{0};
};

// Never destroyed: tensors of static storage duration inside libtorch outlive every object of ours.
CachingAllocator& instance() {
  static auto* allocator = new CachingAllocator;
  return *allocator;
}

void CachingAllocator::release(void* data) {
  if (data != nullptr) instance().give(data);
}

}  // namespace

void install_allocator() {
  c10::SetCPUAllocator(&instance(), std::numeric_limits<uint8_t>::max());
  // Scratch memory of oneDNN and OpenBLAS comes from malloc: keep it mapped between calls too.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 64 << 20);
}

int64_t cached_bytes() { return instance().cached(); }

}  // namespace passnet::runtime
