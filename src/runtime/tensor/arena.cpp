#include "runtime/tensor/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace passnet::runtime {

namespace {
constexpr size_t kArenaStep = 64, kArenaPage = 4096;
/// From here on pages are given back one by one; smaller places keep theirs.
constexpr size_t kByPages = 64 << 10;
size_t whole(size_t value, size_t step) { return (value + step - 1) / step * step; }
}  // namespace

Result<std::unique_ptr<Arena>> Arena::make(int64_t size_bytes) {
  std::unique_ptr<Arena> arena(new Arena);
  arena->size_ = whole(static_cast<size_t>(size_bytes), kArenaPage);
  arena->fd_ = UniqueFd(::memfd_create("passnet-tensors", MFD_CLOEXEC));
  if (!arena->fd_ || ::ftruncate(arena->fd_.get(), static_cast<off_t>(arena->size_)) != 0)
    return io_error("create", "the memory of tensors", errno);
  void* memory = ::mmap(nullptr, arena->size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena->fd_.get(), 0);
  if (memory == MAP_FAILED) return resource_error("no room for the memory of tensors");
  arena->base_ = static_cast<std::byte*>(memory);
  return arena;
}

Arena::~Arena() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

void* Arena::take(size_t bytes) {
  bytes = whole(bytes, bytes >= kByPages ? kArenaPage : kArenaStep);
  if (const auto found = empty_.find(bytes); found != empty_.end() && !found->second.empty()) {
    void* memory = found->second.back();
    found->second.pop_back();
    return memory;
  }
  const size_t start = whole(used_, bytes >= kByPages ? kArenaPage : kArenaStep);
  if (bytes > size_ || start > size_ - bytes) return nullptr;
  used_ = start + bytes;
  return base_ + start;
}

void Arena::give(void* memory, size_t bytes) {
  if (bytes >= kByPages) {
    bytes = whole(bytes, kArenaPage);
    (void)::madvise(memory, bytes, MADV_REMOVE);
  } else {
    bytes = whole(bytes, kArenaStep);
  }
  empty_[bytes].push_back(memory);
}

}  // namespace passnet::runtime
