// Memory for tensors on the CPU: blocks are kept by size when freed and handed out again, so a call that
// allocates what the call before it freed touches no new pages and asks the system for nothing. Free of
// torch.
#pragma once

#include <cstdint>

namespace passnet::runtime {

class Arena;

/// Makes libtorch allocate through the cache and keeps malloc from giving memory back between calls. Call once, before
/// the first tensor. arena: where all tensors lie, and outlives them; null: in memory of this process alone.
void install_allocator(Arena* arena);

/// In a program of others: tensors that this thread makes while one of these lives come from the cache, all others from where
/// they came before.
class FromCache {
 public:
  FromCache();
  ~FromCache();
  FromCache(const FromCache&) = delete;
  FromCache& operator=(const FromCache&) = delete;

 private:
  const bool before_;
};

/// Bytes kept for reuse at this moment.
int64_t cached_bytes();
/// Gives all large blocks that are kept for reuse back to the system.
void drop_large_blocks();
/// The same for all blocks.
void drop_blocks();

/// Begins to look for the peak of the bytes that tensors hold, as they asked for them. Returns what they hold
/// now.
int64_t start_peak();
int64_t peak_bytes_since_start();

}  // namespace passnet::runtime
