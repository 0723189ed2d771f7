#include "runtime/tensor/written_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file/file.h"

namespace passnet::runtime {

std::optional<bool> has_written_pages(const void* data, int64_t size_bytes) {
  // An entry of 64 bits per page, see Documentation/admin-guide/mm/pagemap.rst of Linux.
  constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62, kOfFile = uint64_t{1} << 61;
  if (size_bytes == 0) return false;
  static const UniqueFd map(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!map) return std::nullopt;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(data) / page;
  const uint64_t last = (reinterpret_cast<uintptr_t>(data) + static_cast<uint64_t>(size_bytes) - 1) / page;
  std::array<uint64_t, 4096> entries;
  for (uint64_t at = first; at <= last;) {
    const uint64_t wanted = std::min<uint64_t>(entries.size(), last - at + 1);
    const ssize_t got =
        ::pread(map.get(), entries.data(), wanted * sizeof entries[0], static_cast<off_t>(at * sizeof entries[0]));
    if (got < static_cast<ssize_t>(sizeof entries[0])) return std::nullopt;
    const uint64_t count = static_cast<uint64_t>(got) / sizeof entries[0];
    for (uint64_t i = 0; i < count; ++i) {
      if ((entries[i] & (kPresent | kSwapped)) != 0 && (entries[i] & kOfFile) == 0) return true;
    }
    at += count;
  }
  return false;
}

}  // namespace passnet::runtime
