#include "runtime/cpu/fenced_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <utility>

#include "runtime/device/fault_report.h"

namespace passnet::runtime {

namespace {
constexpr std::byte kCanary{0xCB};
constexpr size_t kAlignment = 64;
// Inaccessible memory on either side, so that a wrong stride or index far outside is caught too. Costs no
// memory.
constexpr size_t kFence = size_t{64} << 20;
size_t page_size() {
  static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}
size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }
}  // namespace

FencedMemory::FencedMemory(size_t size_bytes) : size_(size_bytes) {
  const size_t page = page_size();
  const size_t room = round_up(size_bytes, kAlignment);
  // One page of canaries before the data, however the sizes fall.
  const size_t middle = round_up(room + page, page);
  mapping_size_ = middle + 2 * kFence;
  void* memory = ::mmap(nullptr, mapping_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(memory);
  if (::mprotect(mapping_ + kFence, middle, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(mapping_, mapping_size_);
    throw std::bad_alloc();
  }
  data_ = mapping_ + kFence + middle - room;
  std::memset(mapping_ + kFence, static_cast<int>(kCanary), static_cast<size_t>(data_ - mapping_) - kFence);
  std::memset(data_ + size_, static_cast<int>(kCanary), room - size_);
}

FencedMemory::FencedMemory(FencedMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_size_(other.mapping_size_),
      data_(other.data_),
      size_(other.size_) {}

FencedMemory::~FencedMemory() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_size_);
}

void FencedMemory::announce(const std::string& what) const {
  std::byte* const end = mapping_ + mapping_size_;
  add_fence(mapping_, mapping_ + kFence, data_, data_ + size_, what);
  add_fence(end - kFence, end, data_, data_ + size_, what);
}

std::optional<ptrdiff_t> FencedMemory::broken_canary() const {
  const std::byte* const first = mapping_ + kFence;
  const std::byte* const end = mapping_ + mapping_size_ - kFence;
  // From the data outwards: the nearest broken byte says most.
  for (const std::byte* at = data_ - 1; at >= first; --at) {
    if (*at != kCanary) return at - data_;
  }
  for (const std::byte* at = data_ + size_; at < end; ++at) {
    if (*at != kCanary) return at - (data_ + size_);
  }
  return std::nullopt;
}

}  // namespace passnet::runtime
