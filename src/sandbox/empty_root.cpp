#include "sandbox/empty_root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "sandbox/child.h"

namespace passnet::sandbox {
namespace {

constexpr const char* kHost = "/.host";

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442  // one number on all processors
#endif
/// The kernel's own structure: headers before Linux 5.12 do not have it.
struct MountAttributes {
  uint64_t set, clear, propagation, user_namespace;
};
constexpr uint64_t kReadOnly = 1, kNoSetuid = 2, kNoDevices = 4;  // MOUNT_ATTR_*
constexpr unsigned kRecursive = 0x8000;                           // AT_RECURSIVE

/// Only adds flags: those of the host's own mounts are locked in a new user namespace and must stay.
bool add_flags(const char* path, uint64_t flags, unsigned how) {
  const MountAttributes attributes{flags, 0, 0, 0};
  return ::syscall(SYS_mount_setattr, AT_FDCWD, path, how, &attributes, sizeof attributes) == 0;
}

bool make_directory(const char* path) { return ::mkdir(path, 0755) == 0 || errno == EEXIST; }

bool make_parents(const char* path) {
  char prefix[PATH_MAX];
  if (std::strlen(path) >= sizeof prefix) return errno = ENAMETOOLONG, false;
  for (size_t i = 1; path[i] != '\0'; ++i) {
    if (path[i] != '/') continue;
    std::memcpy(prefix, path, i);
    prefix[i] = '\0';
    if (!make_directory(prefix)) return false;
  }
  return true;
}

bool make_file(const char* path) {
  const int fd = ::open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0644);
  return fd >= 0 && ::close(fd) == 0;
}

bool show(const RootEntry& entry, uint64_t flags) {
  char source[PATH_MAX];
  if (std::snprintf(source, sizeof source, "%s%s", kHost, entry.source) >= static_cast<int>(sizeof source))
    return errno = ENAMETOOLONG, false;
  return make_parents(entry.target) && (entry.directory ? make_directory(entry.target) : make_file(entry.target)) &&
         ::mount(source, entry.target, nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
         add_flags(entry.target, flags | kNoSetuid | kNoDevices, kRecursive);
}

}  // namespace

bool enter_empty_root(const RootEntry* entries, size_t count, const char* writable) {
  // The new root is mounted on `writable` for a moment: that directory is sure to be there.
  char host[PATH_MAX];
  if (std::snprintf(host, sizeof host, "%s%s", writable, kHost) >= static_cast<int>(sizeof host))
    return errno = ENAMETOOLONG, false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", writable, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0 || !make_directory(host) ||
      ::syscall(SYS_pivot_root, writable, host) != 0 || ::chdir("/") != 0)
    return false;
  for (size_t i = 0; i < count; ++i) {
    if (!show(entries[i], kReadOnly)) return false;
  }
  return show({writable, writable, true}, 0) && ::umount2(kHost, MNT_DETACH) == 0 && ::rmdir(kHost) == 0 &&
         add_flags("/", kReadOnly, 0);
}

bool empty_root_available() {
  static const bool available = [] {
    const std::string uid = fmt::format("{0} {0} 1", ::geteuid()), gid = fmt::format("{0} {0} 1", ::getegid());
    constexpr long flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD;
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, flags, 0, 0, 0, 0));
    if (child < 0) return false;
    if (child == 0) {
      constexpr RootEntry shown{"/usr", "/usr", true};
      ::_exit(map_own_ids(uid.c_str(), gid.c_str()) && enter_empty_root(&shown, 1, "/tmp") &&
                      ::access("/etc", F_OK) != 0
                  ? 0
                  : 1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }();
  return available;
}

}  // namespace passnet::sandbox
