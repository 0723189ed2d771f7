#include "lock.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace passnet::cell {

namespace {

constexpr uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
constexpr uint32_t argument_low(uint32_t index) {
  return static_cast<uint32_t>(offsetof(seccomp_data, args)) + 8 * index;
}
constexpr uint32_t argument_high(uint32_t index) { return argument_low(index) + 4; }

bool enter_filter(const Control* control) {
  const auto done = reinterpret_cast<uint64_t>(&control->done);
  constexpr uint32_t kAllow = SECCOMP_RET_ALLOW, kRefuse = SECCOMP_RET_TRAP;
  // Each jump names how many instructions are skipped when the test holds and when it does not.
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 16, 0),
      // Gives pages back to the system; they read as zeros afterwards.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_low(2)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, 13, 12),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 11),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_low(1)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAIT_BITSET, 0, 4),
      // To wait: without a time limit.
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_low(3)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 7),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_high(3)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 6, 5),
      // To wake: the worker alone.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_low(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low(done), 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_high(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high(done), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
      BPF_STMT(BPF_RET | BPF_K, kAllow),
  };
  sock_fprog program{sizeof code / sizeof code[0], code};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

}  // namespace

void drop_clock() {
  // The kernel refuses it only where no such switch is; the object scan is then what keeps clocks out.
  (void)::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

bool drop_vdso() {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  bool found = false;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::strstr(line, "[vdso]") == nullptr && std::strstr(line, "[vvar") == nullptr) continue;
    char* rest = nullptr;
    const auto begin = std::strtoul(line, &rest, 16);
    const auto end = std::strtoul(rest + 1, nullptr, 16);
    found = ::munmap(reinterpret_cast<void*>(begin), end - begin) == 0;
  }
  std::fclose(maps);
  return found;
}

const char* lock(const Control* control) {
  if (::syscall(SYS_close_range, 0U, ~0U, 0) != 0) {
    for (int fd = 0; fd < 65536; ++fd) ::close(fd);
  }
  return enter_filter(control) ? nullptr : "the kernel refused the cell's system call filter";
}

}  // namespace passnet::cell
