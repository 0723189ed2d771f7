// The seccomp filter of workers: a list of what computing needs; everything else is refused with EPERM.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/filter.h"
#include "sandbox/isolation.h"

namespace passnet::sandbox {
namespace {

/// Calls allowed with any arguments.
constexpr long kAllowed[] = {
    // memory
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_mincore,
    SYS_msync,
    SYS_mlock,
    SYS_munlock,
    SYS_mbind,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_memfd_create,
    SYS_ftruncate,
    // threads and scheduling
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_getcpu,
    SYS_membarrier,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    // clocks
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    // descriptors that are open already
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_dup,
    SYS_dup3,
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_recvfrom,
    SYS_getdents64,
    // looking at files
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_getcwd,
    // about ourselves
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
    SYS_getrandom,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_arch_prctl,
    SYS_dup2,
    SYS_poll,
    SYS_select,
    SYS_epoll_wait,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_time,
    SYS_getrlimit,
};

constexpr uint32_t kMaking = O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
constexpr uint32_t kWriting = O_WRONLY | O_RDWR | kMaking;

void allow_opening_without(Filter& filter, uint32_t flags) {
  filter.allow_without(SYS_openat, 2, flags);
  filter.allow_without(SYS_open, 1, flags);
}

/// own_pid: the process that may send signals to itself; none: a compiler, which gets no signals and no memory that its
/// limit of address space does not count.
Filter worker_filter(const WorkerFilter& allowed, std::optional<pid_t> own_pid) {
  Filter filter;
  if (!own_pid) filter.answer(SYS_memfd_create, EPERM);
  allow_computing(filter);
  if (allowed.gpu) filter.allow(SYS_ioctl);
  if (allowed.opens_files) allow_opening_without(filter, allowed.shares_gpu ? kMaking : kWriting);
  filter.allow_with(SYS_clone, 0, CLONE_VM | CLONE_THREAD);
  filter.answer(SYS_clone3,
                ENOSYS);  // its flags are in memory, out of a filter's sight; libc falls back to clone
  filter.refuse_with(SYS_tgkill, 2, SIGKILL);  // and SIGTERM, which has its bits: see ended_from_outside()
  if (own_pid) filter.allow_values(SYS_tgkill, 0, {static_cast<uint32_t>(*own_pid)});  // abort()
  filter.allow_values(SYS_prlimit64, 0, {0});
  filter.allow_values(
      SYS_prctl, 0,
      {PR_SET_NAME, PR_GET_NAME, PR_SET_TSC, PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS, 0x53564d41 /* PR_SET_VMA */});
  filter.allow_values(SYS_fcntl, 1,
                      {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS});
  filter.refuse();
  return filter;
}

}  // namespace

void allow_computing(Filter& filter) {
  for (const long number : kAllowed) filter.allow(number);
}

Result<void> enter_worker_filter(const WorkerFilter& allowed) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !worker_filter(allowed, ::getpid()).install()) {
    return resource_error("the kernel refused the system call filter of workers; it needs CONFIG_SECCOMP_FILTER");
  }
  return {};
}

std::string compiler_filter_bytes() {
  return worker_filter({.gpu = false, .opens_files = true, .shares_gpu = false}, std::nullopt).bytes();
}

}  // namespace passnet::sandbox
