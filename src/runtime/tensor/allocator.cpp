#include "runtime/tensor/allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "base/memory.h"
#include "runtime/tensor/arena.h"

namespace passnet::runtime {

namespace {

constexpr size_t kHeader = 64;  // before the data: its size class; keeps the data at a multiple of 64
constexpr size_t kSmallest = 64;
constexpr size_t kLargest = size_t{1} << 40;
constexpr size_t kLarge = size_t{32} << 20;       // blocks from here on come from the system one by one
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
  size_t used;  // bytes that were asked for
};
static_assert(sizeof(Block) <= kHeader);

constexpr size_t block_bytes(size_t index) { return kHeader + class_bytes(index); }

/// Null: blocks come from malloc and the system.
Arena* arena = nullptr;

/// A new block, or null when there is not enough memory. Large ones are mapped: freed, they are the system's
/// again, while malloc would keep them in holes of its heap.
Block* new_block(size_t index) {
  void* memory = nullptr;
  if (class_bytes(index) < kLarge && arena != nullptr) return static_cast<Block*>(arena->take(block_bytes(index)));
  if (class_bytes(index) < kLarge)
    return ::posix_memalign(&memory, kHeader, block_bytes(index)) == 0 ? static_cast<Block*>(memory) : nullptr;
  // Linux hands out more than it has and kills when that shows: large blocks are asked for only if they are
  // there.
  if (const auto available = available_memory(); available && static_cast<int64_t>(block_bytes(index)) > *available)
    return nullptr;
  if (arena != nullptr) return static_cast<Block*>(arena->take(block_bytes(index)));
  memory = ::mmap(nullptr, block_bytes(index), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Block*>(memory);
}

void delete_block(Block* block) {
  if (arena != nullptr)
    arena->give(block, block_bytes(block->index));
  else if (class_bytes(block->index) < kLarge)
    std::free(block);
  else
    ::munmap(block, block_bytes(block->index));
}

[[noreturn]] void refuse_block(size_t bytes) {
  constexpr double kMiB = 1 << 20;
  const std::string available =
      available_memory() ? fmt::format("found {:.0f} MiB available", static_cast<double>(*available_memory()) / kMiB)
                         : "the system has no more";
  TORCH_CHECK_WITH(OutOfMemoryError, false, "a tensor needs ", fmt::format("{:.0f}", static_cast<double>(bytes) / kMiB),
                   " MiB of memory, ", available);
}

class CachingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CPU)};
    if (bytes > kLargest) refuse_block(bytes);
    void* data = take(bytes);
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }

  int64_t cached() const { return cached_.load(); }

  void drop(size_t smallest) {
    Block* dropped = nullptr;
    {
      const std::lock_guard guard(lock_);
      for (size_t index = class_of(smallest); index < kClasses; ++index) {
        while (Block* block = free_[index]) {
          free_[index] = block->next;
          add(cached_, -static_cast<int64_t>(class_bytes(index)));
          block->next = dropped;
          dropped = block;
        }
      }
    }
    while (dropped != nullptr) delete_block(std::exchange(dropped, dropped->next));
  }

  int64_t start_peak() {
    const std::lock_guard guard(lock_);
    return peak_ = live_;
  }
  int64_t peak() const { return peak_; }

 private:
  void* take(size_t bytes) {
    const size_t index = class_of(bytes);
    Block* block = nullptr;
    {
      const std::lock_guard guard(lock_);
      block = free_[index];
      if (block != nullptr) {
        free_[index] = block->next;
        add(cached_, -static_cast<int64_t>(class_bytes(index)));
      }
      live_ += static_cast<int64_t>(bytes);
      peak_ = std::max(peak_, live_);
    }
    if (block == nullptr) block = fresh(index, bytes);
    block->used = bytes;
    return reinterpret_cast<char*>(block) + kHeader;
  }

  Block* fresh(size_t index, size_t bytes) {
    Block* block = new_block(index);
    if (block == nullptr) {
      drop(kLarge);
      block = new_block(index);
    }
    if (block == nullptr) {
      {
        const std::lock_guard guard(lock_);
        live_ -= static_cast<int64_t>(bytes);
      }
      refuse_block(bytes);
    }
    block->index = index;
    return block;
  }

  void give(void* data) {
    auto* block = reinterpret_cast<Block*>(static_cast<char*>(data) - kHeader);
    const auto bytes = static_cast<int64_t>(class_bytes(block->index));
    {
      const std::lock_guard guard(lock_);
      live_ -= static_cast<int64_t>(block->used);
      if (cached_.load(std::memory_order_relaxed) + bytes <= kMaxCached) {
        add(cached_, bytes);
        Block** at = &free_[block->index];
        while (bytes >= kOrdered && *at != nullptr && *at < block) at = &(*at)->next;
        block->next = *at;
        *at = block;
        return;
      }
    }
    delete_block(block);
  }

  /// Under the lock; readers need none.
  static void add(std::atomic<int64_t>& counter, int64_t bytes) {
    counter.store(counter.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
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
  int64_t live_ = 0, peak_ = 0;  // bytes that tensors asked for
};

// Never destroyed: tensors of static storage duration inside libtorch outlive every object of ours.
CachingAllocator& instance() {
  static auto* allocator = new CachingAllocator;
  return *allocator;
}

void CachingAllocator::release(void* data) {
  if (data != nullptr) instance().give(data);
}

constexpr uint8_t kBeforeAllOthers = std::numeric_limits<uint8_t>::max();

thread_local bool from_cache = false;

/// Asks the cache while from_cache is set, and else the allocator that was there before.
class SometimesCaching final : public c10::Allocator {
 public:
  explicit SometimesCaching(c10::Allocator* others) { before = others; }

  c10::DataPtr allocate(size_t bytes) override {
    if (!from_cache) return before->allocate(bytes);
    try {
      return instance().allocate(bytes);
    } catch (const c10::OutOfMemoryError&) {
      return before->allocate(bytes);
    }
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_either; }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }

 private:
  // oneDNN's memory is freed by its address alone, from any thread.
  static void release_either(void* data) {
    if (arena->holds(data))
      instance().raw_deleter()(data);
    else
      before->raw_deleter()(data);
  }

  inline static c10::Allocator* before = nullptr;
};

/// Once per process; it stays, as tensors know the allocator that made them.
/// Returns: false where the process has no addresses to spare.
bool stand_before_allocator() {
  static const bool done = [] {
    Result<std::unique_ptr<Arena>> range = Arena::make(Arena::Kind::Private);
    if (!range) return false;
    arena = range->release();
    c10::SetCPUAllocator(new SometimesCaching(c10::GetCPUAllocator()), kBeforeAllOthers);
    return true;
  }();
  return done;
}

}  // namespace

FromCache::FromCache() : before_(from_cache) { from_cache = stand_before_allocator(); }
FromCache::~FromCache() { from_cache = before_; }

void install_allocator(Arena* blocks) {
  arena = blocks;
  c10::SetCPUAllocator(&instance(), kBeforeAllOthers);
  // Scratch memory of oneDNN and OpenBLAS comes from malloc: keep it mapped between calls too.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 64 << 20);
}

int64_t cached_bytes() { return instance().cached(); }
void drop_large_blocks() { instance().drop(kLarge); }
void drop_blocks() { instance().drop(0); }
int64_t start_peak() { return instance().start_peak(); }
int64_t peak_bytes_since_start() { return instance().peak(); }

}  // namespace passnet::runtime
