#include "sandbox/child.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "sandbox/isolation.h"

namespace passnet::sandbox {
namespace {

[[noreturn]] void stop(const ChildPlan& plan, ChildReport::Step step) {
  const ChildReport report{step, errno};
  (void)!::send(plan.report, &report, sizeof report, MSG_NOSIGNAL);
  ::_exit(127);
}

bool write_once(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto size = static_cast<ssize_t>(std::strlen(text));
  const bool written = ::write(fd, text, static_cast<size_t>(size)) == size;
  ::close(fd);
  return written;
}

void close_from(unsigned first, bool on_exec) {
  if (::syscall(SYS_close_range, first, ~0u, on_exec ? CLOSE_RANGE_CLOEXEC : 0u) == 0) return;
  const long count = ::sysconf(_SC_OPEN_MAX);
  for (int fd = static_cast<int>(first); fd < count; ++fd) on_exec ? ::fcntl(fd, F_SETFD, FD_CLOEXEC) : ::close(fd);
}

/// Moves a descriptor out of the way of 0 … 3.
int lift(int fd) { return fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 10); }

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void limit(__rlimit_resource_t resource, int64_t soft, int64_t hard) {
  struct rlimit before {};
  ::getrlimit(resource, &before);
  rlimit value{static_cast<rlim_t>(soft), static_cast<rlim_t>(hard)};
  if (value.rlim_max > before.rlim_max) value.rlim_max = before.rlim_max;
  if (value.rlim_cur > value.rlim_max) value.rlim_cur = value.rlim_max;
  ::setrlimit(resource, &value);
}

void apply_limits(const Limits& limits) {
  limit(RLIMIT_CORE, 0, 0);
  if (limits.cpu_seconds > 0) limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1);
  if (limits.memory_bytes > 0) limit(RLIMIT_AS, limits.memory_bytes, limits.memory_bytes);
  if (limits.file_bytes >= 0) limit(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
}

void confine(const ChildPlan& plan) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) stop(plan, ChildReport::Restrict);
  for (int capability = 0; capability < 64; ++capability) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  const auto allow = [&](const char* path, uint64_t access) {
    const landlock_path_beneath_attr rule{.allowed_access = access, .parent_fd = ::open(path, O_PATH | O_CLOEXEC)};
    if (::syscall(SYS_landlock_add_rule, plan.landlock, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
      stop(plan, ChildReport::Restrict);
  };
  if (plan.landlock >= 0 && plan.own_entry != 0) allow("/proc/self", plan.own_entry);
  if (plan.landlock >= 0 && plan.root.memory != nullptr) allow(plan.root.writable, plan.writes);
  if (plan.landlock >= 0 && ::syscall(SYS_landlock_restrict_self, plan.landlock, 0) != 0)
    stop(plan, ChildReport::Restrict);
}

/// Closes what execve would close, and calls the main function of a copy.
[[noreturn]] void enter(const ChildPlan& plan, unsigned first_closed) {
  close_from(first_closed, false);
  int count = 0;
  while (plan.argv[count] != nullptr) ++count;
  ::_exit(plan.entry(count, plan.argv));
}

[[noreturn]] void run_program(ChildPlan plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!plan.supervised && ::getppid() != plan.parent) ::_exit(127);
  if (plan.working_directory && ::chdir(plan.working_directory) != 0) stop(plan, ChildReport::Directory);
  const int socket = lift(plan.socket), input = lift(plan.input), output = lift(plan.output);
  plan.report = lift(plan.report);
  plan.landlock = lift(plan.landlock);
  plan.group = lift(plan.group);
  if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) stop(plan, ChildReport::Descriptors);
  if (socket >= 0 && ::dup2(socket, 3) < 0) stop(plan, ChildReport::Descriptors);
  if (plan.group >= 0 && ::write(plan.group, "0", 1) != 1) stop(plan, ChildReport::Restrict);
  const unsigned first_closed = socket >= 0 ? 4 : 3;
  close_from(first_closed, true);
  apply_limits(plan.limits);
  if (plan.confined) confine(plan);
  reset_signals();
  const ChildReport started;
  if (::send(plan.report, &started, sizeof started, MSG_NOSIGNAL) < 0) ::_exit(127);
  if (plan.entry) enter(plan, first_closed);
  ::execve(plan.argv[0], plan.argv, plan.environment);
  stop(plan, ChildReport::Execute);
}

/// The first process of the new pid namespace: starts the program, reaps whatever is orphaned, passes on how
/// the program ended and ends, which takes all that is left with it.
[[noreturn]] void supervise(const ChildPlan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!map_own_ids(plan.uid_map, plan.gid_map)) stop(plan, ChildReport::Supervise);
  const bool mounted = plan.root.count > 0 ? enter_empty_root(plan.root) : !plan.gpu || mount_own_proc(true);
  if (!mounted) stop(plan, ChildReport::Supervise);
  const pid_t program = ::_Fork();  // unlike the bare system call it tells a copy's C library its new number
  if (program < 0) stop(plan, ChildReport::Supervise);
  if (program == 0) run_program(plan);
  const int status_pipe = lift(plan.status);
  ::dup2(status_pipe, 0);
  close_from(1, false);
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended == program) break;
    if (ended < 0 && errno != EINTR) ::_exit(127);
  }
  (void)!::write(0, &status, sizeof status);
  ::_exit(0);
}

}  // namespace

bool succeeds_in(long namespaces, const std::function<bool()>& attempt) {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0));
  if (child < 0) return false;
  if (child == 0) ::_exit(attempt() ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool map_own_ids(const char* uid_map, const char* gid_map) {
  (void)write_once("/proc/self/setgroups", "deny");
  return write_once("/proc/self/uid_map", uid_map) && write_once("/proc/self/gid_map", gid_map);
}

void run_child(const ChildPlan& plan) {
  if (plan.supervised) supervise(plan);
  run_program(plan);
}

}  // namespace passnet::sandbox
