#include "base/file/temporary_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file/paths.h"

namespace passnet {

namespace {
/// From making a directory to locking it no process takes so long.
constexpr time_t kSecondsToLock = 60;
constexpr std::string_view kLetters = "XXXXXX";  // which mkdtemp() replaces

/// Opens and locks a directory. how: LOCK_NB gives up where another process holds it. Empty when it is not locked, or not
/// this user's own.
UniqueFd lock(const fs::path& directory, int how) {
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0 || found.st_uid != ::geteuid()) return {};
  return ::flock(fd.get(), LOCK_EX | how) == 0 ? std::move(fd) : UniqueFd();
}

bool is_old(const UniqueFd& directory) {
  struct stat found {};
  return ::fstat(directory.get(), &found) == 0 && ::time(nullptr) - found.st_mtime > kSecondsToLock;
}

/// Removes directories of processes that were killed.
void sweep(const fs::path& parent, const std::string& prefix) {
  const Result<std::vector<fs::path>> entries = list_directory(parent);
  if (!entries) return;
  for (const fs::path& entry : *entries) {
    const std::string name = entry.filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + kLetters.size()) continue;
    const UniqueFd held = lock(entry, LOCK_NB);
    std::error_code ignored;
    if (held && is_old(held)) fs::remove_all(entry, ignored);
  }
}
}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::make_in(const fs::path& parent, const std::string& prefix) {
  std::string name = (parent / prefix).string() + std::string(kLetters);
  if (::mkdtemp(name.data()) == nullptr) return io_error("create a directory in", parent.string(), errno);
  return TemporaryDirectory(name, lock(name, 0));  // who sweeps may hold it for a moment
}

Result<TemporaryDirectory> TemporaryDirectory::make(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  fs::create_directories(parent, ignored);
  sweep(parent, prefix);
  return make_in(parent, prefix);
}

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& prefix) {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (failed) return io_error("find", "the directory for temporary files", failed.value());
  return make_in(parent, prefix);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, fs::path())), lock_(std::move(other.lock_)) {}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace passnet
