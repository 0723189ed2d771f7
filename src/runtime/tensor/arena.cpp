#include "runtime/tensor/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace passnet::runtime {

namespace {
constexpr size_t kArenaStep = 64, kArenaPage = 4096;
/// From here on pages are given back one by one; smaller places keep theirs.
constexpr size_t kByPages = 64 << 10;
size_t whole(size_t value, size_t step) { return (value + step - 1) / step * step; }

// Address space alone; places of a size that is not asked for again stay empty in it.
constexpr int64_t kArenaPerMemory = 4, kLeastArena = 64 << 20;

int64_t arena_bytes() {
  const int64_t wanted = kArenaPerMemory * ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const Result<std::string> used = read_file("/proc/self/statm", FileKind::System);
  const int64_t pages = used ? std::strtoll(used->c_str(), nullptr, 10) : 0;
  const int64_t left = static_cast<int64_t>(limit.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE);
  return std::min(wanted, std::max(left / 4, kLeastArena));
}
}  // namespace

Result<std::unique_ptr<Arena>> Arena::make(Kind kind) {
  std::unique_ptr<Arena> arena(new Arena);
  arena->size_ = whole(static_cast<size_t>(arena_bytes()), kArenaPage);
  int pages = MAP_PRIVATE | MAP_ANONYMOUS;
  if (kind == Kind::Shared) {
    pages = MAP_SHARED;
    arena->fd_ = UniqueFd(::memfd_create("passnet-tensors", MFD_CLOEXEC));
    if (!arena->fd_ || ::ftruncate(arena->fd_.get(), static_cast<off_t>(arena->size_)) != 0)
      return io_error("create", "the memory of tensors", errno);
  }
  void* memory = ::mmap(nullptr, arena->size_, PROT_READ | PROT_WRITE, pages | MAP_NORESERVE, arena->fd_.get(), 0);
  if (memory == MAP_FAILED) return resource_error("no room for the memory of tensors");
  arena->base_ = static_cast<std::byte*>(memory);
  return arena;
}

Arena::~Arena() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

void* Arena::take(size_t bytes) {
  bytes = whole(bytes, bytes >= kByPages ? kArenaPage : kArenaStep);
  const std::lock_guard guard(lock_);
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
    (void)::madvise(memory, bytes, fd_ ? MADV_REMOVE : MADV_DONTNEED);
  } else {
    bytes = whole(bytes, kArenaStep);
  }
  const std::lock_guard guard(lock_);
  empty_[bytes].push_back(memory);
}

}  // namespace passnet::runtime
