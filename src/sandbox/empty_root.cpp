#include "sandbox/empty_root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "sandbox/child.h"
#include "sandbox/isolation.h"

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
  const bool is_directory = entry.kind == RootEntry::Directory;
  if (entry.kind != RootEntry::Device) flags |= kNoDevices;
  return make_parents(entry.target) && (is_directory ? make_directory(entry.target) : make_file(entry.target)) &&
         ::mount(source, entry.target, nullptr, MS_BIND | MS_REC, nullptr) == 0 &&
         add_flags(entry.target, flags | kNoSetuid, kRecursive);
}

bool show_writable(const RootPlan& plan) {
  if (plan.memory == nullptr) return show({plan.writable, plan.writable, RootEntry::Directory}, 0);
  return make_parents(plan.writable) && make_directory(plan.writable) &&
         ::mount("tmpfs", plan.writable, "tmpfs", MS_NOSUID | MS_NODEV, plan.memory) == 0;
}

bool show_proc(RootPlan::Proc proc) {
  return proc == RootPlan::None || (make_directory("/proc") && mount_own_proc(proc == RootPlan::Writable));
}

}  // namespace

bool enter_empty_root(const RootPlan& plan) {
  // The new root is mounted on `writable` for a moment: that directory is sure to be there.
  char host[PATH_MAX];
  if (std::snprintf(host, sizeof host, "%s%s", plan.writable, kHost) >= static_cast<int>(sizeof host))
    return errno = ENAMETOOLONG, false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", plan.writable, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0 ||
      !make_directory(host) || ::syscall(SYS_pivot_root, plan.writable, host) != 0 || ::chdir("/") != 0)
    return false;
  for (size_t i = 0; i < plan.count; ++i) {
    if (!show(plan.entries[i], kReadOnly)) return false;
  }
  // The kernel mounts a /proc only where another one is still in sight.
  return show_proc(plan.proc) && show_writable(plan) && ::umount2(kHost, MNT_DETACH) == 0 && ::rmdir(kHost) == 0 &&
         add_flags("/", kReadOnly, 0);
}

bool empty_root_available() {
  static const bool available = [] {
    const std::string uid = fmt::format("{0} {0} 1", ::geteuid()), gid = fmt::format("{0} {0} 1", ::getegid());
    return succeeds_in(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS, [&] {
      constexpr RootEntry shown{"/usr", "/usr", RootEntry::Directory};
      return map_own_ids(uid.c_str(), gid.c_str()) &&
             enter_empty_root({.entries = &shown, .count = 1, .writable = "/tmp"}) && ::access("/etc", F_OK) != 0;
    });
  }();
  return available;
}

}  // namespace passnet::sandbox
