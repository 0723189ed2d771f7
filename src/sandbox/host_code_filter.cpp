// The seccomp filter of host code in Python: what computing needs, and beside it programs and files, since Triton starts a
// compiler and keeps what that makes. Where files may be written is Landlock's to say.
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

#include "sandbox/filter.h"
#include "sandbox/isolation.h"

namespace passnet::sandbox {
namespace {

/// Calls allowed with any arguments.
constexpr long kForHostCode[] = {
    // programs
    SYS_execve,
    SYS_wait4,
    SYS_waitid,
    SYS_pipe2,
    // the socket to passnet, as Python sends
    SYS_sendto,
    // files, below the one directory
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_fsync,
    SYS_fdatasync,
    SYS_flock,
    SYS_statfs,
    SYS_fstatfs,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_sendfile,
    SYS_copy_file_range,
    SYS_chdir,
    SYS_fchdir,
    SYS_umask,
    // about ourselves
    SYS_getpgid,
    SYS_getsid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_getpriority,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_times,
    SYS_getitimer,
    SYS_setitimer,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_fork,
    SYS_vfork,
    SYS_pipe,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_rename,
    SYS_getdents,
    SYS_getpgrp,
    SYS_alarm,
    SYS_pause,
};

constexpr uint32_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// Opened for reading and emptied all the same: older versions of Landlock do not see it.
void allow_opening(Filter& filter, long number, uint32_t argument) {
  filter.allow_unless(number, argument, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC);
}

/// Memory that no limit of a process counts: its pages outlive their mappings, or are the machine's huge ones.
void refuse_uncounted_memory(Filter& filter, const HostCodeFilter& allowed) {
  if (allowed.makes_memory) return;
  filter.answer(SYS_memfd_create, EPERM);
  filter.refuse_with(SYS_mmap, 3, MAP_HUGETLB);
  if (!allowed.shares_memory) filter.refuse_with(SYS_mmap, 3, MAP_SHARED | MAP_ANONYMOUS);
}

Filter host_code_filter(const HostCodeFilter& allowed) {
  Filter filter;
  refuse_uncounted_memory(filter, allowed);
  allow_computing(filter);
  for (const long number : kForHostCode) filter.allow(number);
  allow_opening(filter, SYS_openat, 2);
  allow_opening(filter, SYS_open, 1);
  filter.allow_without(SYS_clone, 0, kNewNamespaces);
  filter.answer(SYS_clone3, ENOSYS);  // its flags are out of a filter's sight; libc falls back to clone
  if (allowed.gpu)
    filter.allow(SYS_ioctl);
  else
    filter.allow_values(SYS_ioctl, 1, {TCGETS, TIOCGWINSZ, FIOCLEX, FIONCLEX, FIONREAD});
  filter.allow_values(SYS_socketpair, 0, {AF_UNIX});
  filter.allow_values(SYS_prlimit64, 0, {0});
  filter.allow_values(
      SYS_prctl, 0,
      {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS, 0x53564d41 /* PR_SET_VMA */});
  filter.allow_values(SYS_fcntl, 1,
                      {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC, F_GETLK, F_SETLK, F_SETLKW,
                       F_GETPIPE_SZ, F_SETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS});
  filter.refuse();
  return filter;
}

}  // namespace

std::string host_code_filter_bytes(const HostCodeFilter& allowed) { return host_code_filter(allowed).bytes(); }

Result<void> enter_host_code_filter(const HostCodeFilter& allowed) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && host_code_filter(allowed).install()) return {};
  return resource_error("the kernel refused the system call filter of packages; it needs CONFIG_SECCOMP_FILTER");
}

}  // namespace passnet::sandbox
