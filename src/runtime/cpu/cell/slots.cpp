#include "runtime/cpu/cell/slots.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/memory.h"
#include "base/random.h"
#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

constexpr uint64_t kPage = 4096, kAlignment = 64;
constexpr uint64_t kPlay = 1024;       // bytes by which a buffer can lie elsewhere in its place
constexpr uint64_t kNoise = 64 << 10;  // random bytes, repeated
constexpr size_t kMostCopies = 32;     // of a call's buffers
// Bytes of all copies together, where one call needs less: calls in a row then find their tensors in the caches.
constexpr uint64_t kEnough = 4 << 20;
constexpr size_t kMostSlots = 2048;

uint64_t extent(const pass::Buffer& buffer) { return static_cast<uint64_t>(extent_bytes(buffer.type)); }

/// Copies of each buffer that kernels write, so that calls in a row find theirs elsewhere.
size_t copies_for(const std::vector<const pass::LaunchList*>& lists) {
  uint64_t bytes = 1;
  size_t buffers = 1;
  for (const pass::LaunchList* list : lists) {
    for (const pass::Buffer& buffer : list->buffers) {
      if (buffer.is_read_only()) continue;
      bytes += cell::round_up(extent(buffer) + kPlay, kPage);
      ++buffers;
    }
  }
  const auto by_memory = static_cast<size_t>(std::min<uint64_t>(kEnough / bytes, kMostCopies));
  return std::clamp<size_t>(std::min(by_memory, kMostSlots / buffers), 2, kMostCopies);
}

}  // namespace

class SlotMemory::SlotAllocator final : public c10::Allocator {
 public:
  explicit SlotAllocator(SlotMemory& memory) : memory_(memory) {}
  size_t slot = 0;  // of the next tensor
  c10::DataPtr allocate(size_t) override {
    return {memory_.data(slot), &memory_.handles_[slot], &SlotMemory::release, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }

 private:
  SlotMemory& memory_;
};

Result<std::unique_ptr<SlotMemory>> SlotMemory::make(const std::vector<const pass::LaunchList*>& lists) {
  std::unique_ptr<SlotMemory> memory(new SlotMemory);
  memory->copies_ = copies_for(lists);
  memory->free_.resize(lists.size());
  for (size_t l = 0; l < lists.size(); ++l) {
    const auto& buffers = lists[l]->buffers;
    memory->free_[l].resize(buffers.size());
    for (size_t b = 0; b < buffers.size(); ++b) {
      const bool writable = !buffers[b].is_read_only();
      for (size_t copy = 0; copy < (writable ? memory->copies_ : 1); ++copy) {
        const uint64_t size = cell::round_up(extent(buffers[b]) + kPlay, kPage);
        memory->free_[l][b].push_back(memory->slots_.size());
        memory->slots_.push_back({memory->size_, size, 0, extent(buffers[b]), l, b, writable});
        memory->size_ += size;
      }
    }
  }
  PASSNET_TRY_VOID(require_memory("the buffers of the kernels", static_cast<double>(memory->size_)));
  memory->size_ = std::max(memory->size_, kPage);
  memory->fd_ = UniqueFd(::memfd_create("passnet-buffers", MFD_CLOEXEC));
  if (!memory->fd_ || ::ftruncate(memory->fd_.get(), static_cast<off_t>(memory->size_)) != 0)
    return io_error("create", "the memory of the kernels' buffers", errno);
  void* mapping = ::mmap(nullptr, memory->size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd_.get(), 0);
  if (mapping == MAP_FAILED) return resource_error("no room for the buffers of the kernels");
  memory->base_ = static_cast<std::byte*>(mapping);

  PASSNET_TRY(const uint64_t seed, random_number());
  memory->random_.seed(seed);
  memory->noise_.resize(kNoise);
  for (size_t i = 0; i < kNoise; i += sizeof(uint64_t)) {
    const uint64_t noise = memory->random_();
    std::memcpy(memory->noise_.data() + i, &noise, sizeof noise);
  }
  memory->allocator_ = std::make_unique<SlotAllocator>(*memory);
  for (size_t slot = 0; slot < memory->slots_.size(); ++slot) {
    memory->handles_.push_back({memory.get(), slot});
    memory->place_at_end(slot);
  }
  return memory;
}

SlotMemory::~SlotMemory() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

std::vector<cell::SlotRow> SlotMemory::rows() const {
  std::vector<cell::SlotRow> rows;
  for (const Slot& slot : slots_) rows.push_back({slot.offset, slot.size, slot.writable ? 1U : 0U, 0});
  return rows;
}

std::optional<size_t> SlotMemory::take(size_t list, size_t buffer) {
  std::vector<size_t>& free = free_[list][buffer];
  if (free.empty()) return std::nullopt;
  const size_t slot = free.back();
  free.pop_back();
  slots_[slot].is_stale = true;
  return slot;
}

void SlotMemory::give(size_t slot) { free_[slots_[slot].list][slots_[slot].buffer].push_back(slot); }

void SlotMemory::release(void* context) {
  const auto* handle = static_cast<Handle*>(context);
  handle->memory->give(handle->slot);
}

c10::Allocator& SlotMemory::allocator_of(size_t slot) {
  allocator_->slot = slot;
  return *allocator_;
}

void SlotMemory::fill(std::byte* memory, uint64_t offset, uint64_t size) const {
  for (uint64_t done = 0; done < size;) {
    const uint64_t at = (offset + done) % kNoise, part = std::min(size - done, kNoise - at);
    std::memcpy(memory + done, noise_.data() + at, part);
    done += part;
  }
}

void SlotMemory::move(size_t index, uint64_t data) {
  Slot& slot = slots_[index];
  slot.data = data;
  std::byte* place = base_ + slot.offset;
  fill(place, slot.offset, slot.data);
  const uint64_t end = slot.data + slot.used;
  fill(place + end, slot.offset + end, slot.size - end);
}

void SlotMemory::place_at_end(size_t index) {
  const Slot& slot = slots_[index];
  move(index, slot.size - cell::round_up(slot.used, kAlignment));
}

void SlotMemory::renew(size_t calls, bool poison) {
  for (auto& of_list : free_) {
    for (std::vector<size_t>& free : of_list) {
      if (free.empty() || !slots_[free[0]].writable) continue;
      std::shuffle(free.begin(), free.end(), random_);
      const size_t others = free.size() - std::min(calls, free.size());
      for (size_t i = 0; i < free.size(); ++i) {
        const size_t index = free[i];
        Slot& slot = slots_[index];
        if (i < others) {
          if (poison && slot.is_stale) fill(data(index), random_() % kNoise, slot.used);
          slot.is_stale = slot.is_stale && !poison;
          continue;
        }
        const uint64_t steps = (slot.size - cell::round_up(slot.used, kAlignment)) / kAlignment;
        move(index, kAlignment * (random_() % (steps + 1)));
        if (!poison) continue;
        fill(data(index), random_() % kNoise, slot.used);
        slot.is_stale = false;
      }
    }
  }
}

bool SlotMemory::holds_noise(const std::byte* memory, uint64_t offset, uint64_t size) const {
  for (uint64_t done = 0; done < size;) {
    const uint64_t at = (offset + done) % kNoise, part = std::min(size - done, kNoise - at);
    if (std::memcmp(memory + done, noise_.data() + at, part) != 0) return false;
    done += part;
  }
  return true;
}

std::optional<int64_t> SlotMemory::broken_canary(size_t index) const {
  const Slot& slot = slots_[index];
  const std::byte* place = base_ + slot.offset;
  const uint64_t end = slot.data + slot.used;
  if (holds_noise(place, slot.offset, slot.data) && holds_noise(place + end, slot.offset + end, slot.size - end))
    return std::nullopt;
  const auto noise = [&](uint64_t offset) { return noise_[(slot.offset + offset) % kNoise]; };
  for (uint64_t at = end; at < slot.size; ++at) {
    if (place[at] != noise(at)) return static_cast<int64_t>(at - end);
  }
  for (uint64_t at = slot.data; at-- > 0;) {
    if (place[at] != noise(at)) return static_cast<int64_t>(at) - static_cast<int64_t>(slot.data);
  }
  return std::nullopt;
}

std::optional<size_t> SlotMemory::find(const void* memory) const {
  const auto* byte = static_cast<const std::byte*>(memory);
  if (byte < base_ || byte >= base_ + size_) return std::nullopt;
  const auto offset = static_cast<uint64_t>(byte - base_);
  const auto after = std::upper_bound(slots_.begin(), slots_.end(), offset,
                                      [](uint64_t value, const Slot& slot) { return value < slot.offset; });
  return static_cast<size_t>(after - slots_.begin()) - 1;
}

}  // namespace passnet::runtime
