#include "run/machine/lock_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "base/log.h"

namespace passnet::run {

namespace {

constexpr const char* kOverride = "PASSNET_LOCK_DIR";
constexpr std::array kShared = {"/run/lock", "/dev/shm", "/tmp"};
// Everybody may lock a file, which needs no more than reading; only its owner may change it.
constexpr mode_t kFileMode = 0644;
constexpr uid_t kRoot = 0, kUnmapped = 65534;  // the system's own directories, in a user namespace without its root

UniqueFd open_directory(const std::filesystem::path& path, int flags) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
}

bool can_write(const UniqueFd& directory) { return ::faccessat(directory.get(), ".", W_OK, AT_EACCESS) == 0; }

/// Whether all users may add files and none may replace those of another.
bool is_shared_by_all(const UniqueFd& directory) {
  struct stat info {};
  if (::fstat(directory.get(), &info) != 0) return false;
  const bool by_all = (info.st_mode & S_ISVTX) != 0 && (info.st_mode & S_IWOTH) != 0;
  return by_all && (info.st_uid == kRoot || info.st_uid == kUnmapped);
}

Result<LockDirectory> open_given(const std::filesystem::path& path) {
  LockDirectory given{open_directory(path, 0), path};
  if (!given.fd) return io_error("open", path.string(), errno).with_hint(fmt::format("{} is set to it", kOverride));
  struct stat info {};
  if (::fstat(given.fd.get(), &info) != 0) return io_error("look at", path.string(), errno);
  if ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return resource_error(fmt::format("{} '{}': every user may remove the locks of others in it, expected a sticky "
                                      "directory",
                                      kOverride, path.string()))
        .with_hint(fmt::format("chmod +t '{}'", path.string()));
  }
  if (!can_write(given.fd))
    return io_error("write to", path.string(), errno).with_hint(fmt::format("{} is set to it", kOverride));
  return given;
}

Result<LockDirectory> open_own() {
  const std::filesystem::path path = passnet_home() / "lock";
  static std::atomic<bool> told = false;
  if (!told.exchange(true)) {
    log::warn(
        fmt::format("evaluations of other users on this machine are not seen: none of {}, {} and {} is a directory "
                    "that all users share (of root, mode 1777) and this one can write to; locks are in '{}'; {} names "
                    "another directory",
                    kShared[0], kShared[1], kShared[2], path.string(), kOverride));
  }
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  LockDirectory own{open_directory(path, O_NOFOLLOW), path};
  if (!own.fd) return io_error("open", path.string(), errno);
  return own;
}

/// Who is in the way. Errors are Resource: the machine's users have to act.
Error in_the_way(const LockDirectory& directory, const std::string& name, const char* what) {
  struct stat info {};
  const bool known = ::fstatat(directory.fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  const std::string path = (directory.path / name).string();
  return resource_error(fmt::format("cannot lock '{}': it is {}{}, expected a regular file that all may read", path,
                                    what, known ? " of user '" + user_name(info.st_uid) + "'" : ""))
      .with_hint(fmt::format("its owner or root has to remove it; or all who evaluate here set {} to one directory",
                             kOverride));
}

bool is_regular(const UniqueFd& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode);
}

UniqueFd open_file(const LockDirectory& directory, const std::string& name) {
  // Not O_CREAT: systems refuse that for files of others in a sticky directory.
  return UniqueFd(::openat(directory.fd.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
}

}  // namespace

Result<LockDirectory> open_lock_directory() {
  if (const char* given = std::getenv(kOverride); given != nullptr && *given != 0) return open_given(given);
  for (const char* path : kShared) {
    LockDirectory directory{open_directory(path, O_NOFOLLOW), path};
    if (directory.fd && is_shared_by_all(directory.fd) && can_write(directory.fd)) return directory;
  }
  return open_own();
}

Result<UniqueFd> open_lock_file(const LockDirectory& directory, const std::string& name) {
  UniqueFd file = open_file(directory, name);
  if (!file && errno == ENOENT) {
    PASSNET_TRY(const std::optional<UniqueFd> made, publish_locked(directory, name, ""));
    // Not by closing: a process that was forked meanwhile has the descriptor, too.
    if (made) ::flock(made->get(), LOCK_UN);
    file = open_file(directory, name);
  }
  if (!file && errno == ELOOP) return in_the_way(directory, name, "a symbolic link");
  if (!file && (errno == EACCES || errno == ENXIO || errno == ENODEV))
    return in_the_way(directory, name, errno == EACCES ? "closed to others by its mode, a file" : "no regular file");
  if (!file) return io_error("open", (directory.path / name).string(), errno);
  if (!is_regular(file)) return in_the_way(directory, name, "no regular file");
  return file;
}

UniqueFd look_at_lock_file(const LockDirectory& directory, const std::string& name) {
  UniqueFd file = open_file(directory, name);
  return file && is_regular(file) ? std::move(file) : UniqueFd();
}

Result<std::optional<UniqueFd>> publish_locked(const LockDirectory& directory, const std::string& name,
                                               const std::string& content) {
  const std::string path = (directory.path / name).string();
  // Drawn: other users could take a name that they foresee.
  uint64_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn))
    return io_error("draw a name for", path, errno);
  const std::string draft = fmt::format(".passnet-draft-{:016x}", drawn);
  UniqueFd file(
      ::openat(directory.fd.get(), draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file) return io_error("create", path, errno);
  const auto publish = [&]() -> Result<bool> {
    // Whatever the umask: others have to see it.
    if (::fchmod(file.get(), kFileMode) != 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
      return io_error("lock", path, errno);
    PASSNET_TRY_VOID(write_all(file.get(), content, path));
    if (::linkat(directory.fd.get(), draft.c_str(), directory.fd.get(), name.c_str(), 0) == 0) return true;
    if (errno == EEXIST) return false;
    return io_error("link to", path, errno);
  };
  const Result<bool> published = publish();
  ::unlinkat(directory.fd.get(), draft.c_str(), 0);
  if (!published) return published.error();
  return *published ? std::optional(std::move(file)) : std::nullopt;
}

std::string user_name(unsigned uid) {
  const passwd* const entry = ::getpwuid(uid);
  return entry != nullptr && entry->pw_name != nullptr ? entry->pw_name : std::to_string(uid);
}

}  // namespace passnet::run
