#include "base/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>

#include "base/file/file.h"
#include "base/text/strings.h"

namespace passnet {

namespace {

constexpr double kGiB = 1 << 30;

/// The number that starts after `key` in the text.
std::optional<int64_t> number_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = trim(text.substr(at + key.size()));
  int64_t value = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return status == std::errc{} ? std::optional(value) : std::nullopt;
}

/// The text of a file of the kernel's, through the descriptor that the first call opened.
std::optional<std::string> read_again(const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, UniqueFd> kept;
  const std::lock_guard lock(mutex);
  UniqueFd& file = kept[path];
  if (!file) file = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t got = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(part.data(), static_cast<size_t>(got));
  }
}

std::optional<int64_t> number_in(const std::filesystem::path& path, std::string_view key) {
  const std::optional<std::string> text = read_again(path);
  return text ? number_after(*text, key) : std::nullopt;
}

/// What the limits of our control group and of those above it leave.
std::optional<int64_t> left_in_groups(const std::filesystem::path& root) {
  const std::optional<std::string> own = read_again(root / "proc/self/cgroup");
  if (!own || !own->starts_with("0::/")) return std::nullopt;
  std::optional<int64_t> left;
  const auto ask = [&](const std::filesystem::path& group) {
    // memory.max holds "max" where there is no limit; the outermost group has no such file.
    const auto limit = number_in(group / "memory.max", ""), used = number_in(group / "memory.current", "");
    if (!limit || !used) return;
    const int64_t reclaimable = number_in(group / "memory.stat", "inactive_file ").value_or(0);
    left = std::min(left.value_or(*limit), std::max<int64_t>(0, *limit - *used + reclaimable));
  };
  std::filesystem::path group = root / "sys/fs/cgroup";
  ask(group);
  for (const std::string_view name : split(trim(std::string_view(*own).substr(4)), '/')) {
    if (!name.empty()) ask(group /= name);
  }
  return left;
}

}  // namespace

std::optional<int64_t> available_memory(const std::filesystem::path& root) {
  const std::optional<int64_t> kilobytes = number_in(root / "proc/meminfo", "MemAvailable:");
  const std::optional<int64_t> in_groups = left_in_groups(root);
  if (!kilobytes) return in_groups;
  return std::min(*kilobytes * 1024, in_groups.value_or(std::numeric_limits<int64_t>::max()));
}

Result<void> require_memory(const char* what, double bytes) {
  constexpr double kAlwaysTried = 64 << 20;
  if (bytes <= kAlwaysTried) return {};
  const std::optional<int64_t> available = available_memory();
  if (!available || bytes <= static_cast<double>(*available)) return {};
  return resource_error(fmt::format("{} need {:.1f} GiB of memory, found {:.1f} GiB available", what, bytes / kGiB,
                                    static_cast<double>(*available) / kGiB))
      .with_hint("end other programs, or use a machine with more memory");
}

void limit_own_memory() {
  const std::optional<int64_t> held = number_in("/proc/self/status", "VmData:"), available = available_memory();
  if (!held || !available) return;
  const rlim_t most = static_cast<rlim_t>(*held * 1024 + *available);
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace passnet
