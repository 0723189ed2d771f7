#include "sandbox/isolation.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text/strings.h"
#include "sandbox/child.h"
#include "sandbox/empty_root.h"
#include "sandbox/memory_group.h"

namespace passnet::sandbox {
namespace {

constexpr const char* kNamespaces = "user, network, pid and ipc namespaces";
constexpr uint64_t kWrites = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                             LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

constexpr uint64_t kReads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kOfFiles = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;

void allow_below(int ruleset, const char* path, uint64_t access) {
  const UniqueFd target(::open(path, O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!target || ::fstat(target.get(), &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) access &= kOfFiles;
  const landlock_path_beneath_attr rule{.allowed_access = access, .parent_fd = target.get()};
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/// A field of /proc/self/status, without its name.
std::string own_status(std::string_view field) {
  const auto text = read_file("/proc/self/status", FileKind::System);
  if (!text) return "";
  for (std::string_view line : split(*text, '\n')) {
    if (line.starts_with(field)) return std::string(trim(line.substr(field.size())));
  }
  return "";
}

/// No interface besides the loopback, which is down in a new network namespace.
bool without_network() {
  const auto text = read_file("/proc/self/net/dev", FileKind::System);
  if (!text) return false;
  const auto lines = split(trim(*text), '\n');
  for (size_t i = 2; i < lines.size(); ++i) {
    if (!trim(lines[i]).starts_with("lo:")) return false;
  }
  return true;
}

}  // namespace

bool namespaces_available() {
  static const bool available = succeeds_in(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC,
                                            [] { return ::access("/proc/self/uid_map", W_OK) == 0; });
  return available;
}

namespace {
bool make_read_only(const char* path) {
  constexpr unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;
  if (::access(path, F_OK) != 0) return true;
  return ::mount(path, path, nullptr, MS_BIND, nullptr) == 0 &&
         ::mount(nullptr, path, nullptr, MS_REMOUNT | MS_BIND | flags, nullptr) == 0;
}
}  // namespace

bool mount_own_proc(bool writable) {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (writable ? 0 : MS_RDONLY);
  // Processes that it may not trace are hidden: the supervisor has the command line of its caller. Before Linux 5.8 they
  // can be hidden from other groups than root's alone.
  const auto mount_hiding = [&](const char* how) { return ::mount("proc", "/proc", "proc", flags, how) == 0; };
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      !(mount_hiding("hidepid=4") || mount_hiding("hidepid=2")))
    return false;
  return !writable || (make_read_only("/proc/sys") && make_read_only("/proc/sysrq-trigger"));
}

bool own_proc_available() {
  static const bool available =
      succeeds_in(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS, [] { return mount_own_proc(true); });
  return available;
}

/// Includes moving files between directories, which Landlock from its second version on refuses unless a ruleset handles it.
uint64_t landlock_writes() {
  static const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return kWrites | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0);
}

UniqueFd no_write_ruleset(const std::string& writable, bool gpu, const std::vector<std::string>* readable) {
  const uint64_t reads = readable != nullptr ? kReads : 0;
  const landlock_ruleset_attr attributes{.handled_access_fs = landlock_writes() | reads};
  UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset) return ruleset;
  allow_below(ruleset.get(), "/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE);
  if (readable != nullptr) {
    for (const std::string& path : *readable) allow_below(ruleset.get(), path.c_str(), reads);
  }
  if (gpu) {
    std::error_code failure;
    for (std::filesystem::directory_iterator entry("/dev", failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (entry->path().filename().string().starts_with("nvidia"))
        allow_below(ruleset.get(), entry->path().c_str(), LANDLOCK_ACCESS_FS_WRITE_FILE);
    }
  }
  if (!writable.empty()) allow_below(ruleset.get(), writable.c_str(), landlock_writes() | reads);
  return ruleset;
}

std::string describe_isolation() {
  std::vector<std::string> parts;
  if (namespaces_available()) parts.push_back(kNamespaces);
  if (no_write_ruleset("", false)) parts.push_back("Landlock");
  parts.push_back("no new privileges");
  const uint32_t refuse = SECCOMP_RET_ERRNO;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &refuse) == 0) parts.push_back("seccomp filter");
  if (namespaces_available() && empty_root_available()) parts.push_back("compilers in an empty root");
  if (memory_group_available()) parts.push_back("memory control groups");
  return join(parts, "; ");
}

bool in_own_namespaces() { return own_status("NSpid:").find('\t') != std::string::npos && without_network(); }

std::string describe_own_isolation(bool namespaces) {
  std::vector<std::string> parts;
  if (namespaces) parts.push_back(kNamespaces);
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) parts.push_back("no new privileges");
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER) parts.push_back("seccomp filter");
  return parts.empty() ? "none" : join(parts, "; ");
}

}  // namespace passnet::sandbox
