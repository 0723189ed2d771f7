// The memory of buffers that kernels write, and of the copies of inputs that a checked run gives them: each buffer of
// each launch list has some places of its own, which the cell maps one by one between fences. The rest of a place is
// filled with random bytes, so that what is written beside a buffer is found. Internal to runtime/ (includes torch).
#pragma once

#include <c10/core/Allocator.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "cell/control.h"
#include "pass/plan/launch_list.h"

namespace passnet::runtime {

class SlotMemory {
 public:
  /// Places for all buffers of `lists`, which must outlive it. Errors: Resource, Io.
  static Result<std::unique_ptr<SlotMemory>> make(const std::vector<const pass::LaunchList*>& lists);
  ~SlotMemory();
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  /// A place of one buffer.
  struct Slot {
    uint64_t offset = 0, size = 0;  // of the place
    uint64_t data = 0, used = 0;    // where the buffer's bytes are in it, and how many
    size_t list = 0, buffer = 0;
    bool writable = false;  // by kernels
    bool is_stale = false;  // it was taken since it was filled with random bytes
  };
  const std::vector<Slot>& slots() const { return slots_; }
  std::vector<cell::SlotRow> rows() const;
  int fd() const { return fd_.get(); }
  uint64_t size_bytes() const { return size_; }
  std::byte* base() const { return base_; }
  /// How many calls' buffers there is room for at a time.
  size_t copies() const { return copies_; }

  /// Takes a free place; nullopt: all are in use.
  std::optional<size_t> take(size_t list, size_t buffer);
  void give(size_t slot);
  std::byte* data(size_t slot) const { return base_ + slots_[slot].offset + slots_[slot].data; }

  /// Moves the buffer to the end of its place, at most 63 bytes before the fence, and renews what is around it.
  void place_at_end(size_t slot);
  /// The places that the next `calls` calls will take: others than before, the buffers elsewhere in them, filled with
  /// random bytes; so are all others that calls have used, whose results nobody finds.
  /// poison: false leaves in them what they held.
  void renew(size_t calls, bool poison = true);
  /// Where the first byte beside the buffer was overwritten: bytes before its start (negative) or past its end (0 is the
  /// first).
  std::optional<int64_t> broken_canary(size_t slot) const;

  /// The slot whose place holds this address of ours.
  std::optional<size_t> find(const void* memory) const;
  /// For at::detail::empty_strided_generic: the memory of `slot`, given back when the tensor is freed.
  c10::Allocator& allocator_of(size_t slot);

 private:
  SlotMemory() = default;
  void move(size_t slot, uint64_t data);
  void fill(std::byte* memory, uint64_t offset, uint64_t size) const;
  bool holds_noise(const std::byte* memory, uint64_t offset, uint64_t size) const;
  static void release(void* context);

  struct Handle {
    SlotMemory* memory = nullptr;
    size_t slot = 0;
  };
  class SlotAllocator;

  UniqueFd fd_;
  std::byte* base_ = nullptr;
  uint64_t size_ = 0;
  size_t copies_ = 1;
  std::vector<Slot> slots_;
  std::vector<Handle> handles_;                         // by slot
  std::vector<std::vector<std::vector<size_t>>> free_;  // by list and buffer
  std::vector<std::byte> noise_;
  std::mt19937_64 random_;
  std::unique_ptr<SlotAllocator> allocator_;
};

}  // namespace passnet::runtime
