#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "base/file/file.h"
#include "sandbox/isolation.h"
#include "tests/scratch.h"

namespace passnet::sandbox {
namespace {

constexpr int kNotEntered = 255;

/// As the script enters it.
bool enter(std::string bytes) {
  sock_fprog program{static_cast<unsigned short>(bytes.size() / sizeof(sock_filter)),
                     reinterpret_cast<sock_filter*>(bytes.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/// Runs `attempt` in a forked process under the filter; its result is the exit code (0 … 254).
int under_host_filter(const std::function<int()>& attempt, const HostCodeFilter& allowed = {}) {
  const std::string bytes = host_code_filter_bytes(allowed);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(enter(bytes) ? attempt() : kNotEntered);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

struct HostAttempt {
  const char* name;
  std::function<long(const char* path)> call;
};
void PrintTo(const HostAttempt& attempt, std::ostream* out) { *out << attempt.name; }

long map(int flags) { return ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED ? -1 : 0; }

class HostCodeRefused : public testing::TestWithParam<HostAttempt> {};

TEST_P(HostCodeRefused, WithEperm) {
  const ScratchDirectory scratch;
  const std::string path = (scratch.path / "file").string();
  ASSERT_TRUE(write_file(path, "text"));
  EXPECT_EQ(under_host_filter([&] { return GetParam().call(path.c_str()) == -1 ? errno : 0; }), EPERM);
  EXPECT_EQ(read_file(path, FileKind::Lines).value(), "text");
}

INSTANTIATE_TEST_SUITE_P(
    HostCodeFilter, HostCodeRefused,
    testing::Values(
        HostAttempt{"truncate_on_open", [](const char* path) { return ::open(path, O_RDONLY | O_TRUNC); }},
        HostAttempt{"truncate", [](const char* path) { return ::truncate(path, 0); }},
        HostAttempt{"chmod", [](const char* path) { return ::chmod(path, 0777); }},
        HostAttempt{"chown", [](const char* path) { return ::chown(path, ::getuid(), ::getgid()); }},
        HostAttempt{"link", [](const char* path) { return ::link(path, (std::string(path) + ".l").c_str()); }},
        HostAttempt{"socket", [](const char*) { return ::socket(AF_INET, SOCK_STREAM, 0); }},
        HostAttempt{"unix_socket", [](const char*) { return ::socket(AF_UNIX, SOCK_STREAM, 0); }},
        HostAttempt{"connect", [](const char*) { return ::connect(0, nullptr, 0); }},
        HostAttempt{"kill", [](const char*) { return ::kill(::getppid(), 0); }},
        HostAttempt{"leave_the_group", [](const char*) { return ::setsid(); }},
        HostAttempt{"ptrace", [](const char*) { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
        HostAttempt{"read_others",
                    [](const char*) { return ::syscall(SYS_process_vm_readv, ::getppid(), 0, 0, 0, 0, 0); }},
        HostAttempt{"unshare", [](const char*) { return ::unshare(CLONE_NEWUSER); }},
        HostAttempt{"clone_into_a_namespace",
                    [](const char*) { return ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }},
        HostAttempt{"mount", [](const char* path) { return ::mount("none", path, "tmpfs", 0, nullptr); }},
        HostAttempt{"memory_in_a_descriptor", [](const char*) { return long{::memfd_create("x", 0)}; }},
        HostAttempt{"huge_memory_in_a_descriptor", [](const char*) { return long{::memfd_create("x", MFD_HUGETLB)}; }},
        HostAttempt{"secret_memory", [](const char*) { return ::syscall(447 /* memfd_secret */, 0); }},
        HostAttempt{"shared_memory", [](const char*) { return map(MAP_SHARED | MAP_ANONYMOUS); }},
        HostAttempt{"huge_pages", [](const char*) { return map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB); }},
        HostAttempt{"system_v_memory", [](const char*) { return long{::shmget(IPC_PRIVATE, 4096, 0600)}; }},
        HostAttempt{"message_queue", [](const char*) { return ::syscall(SYS_mq_open, "/x", O_CREAT, 0600, nullptr); }},
        HostAttempt{"keyring", [](const char*) { return ::syscall(SYS_add_key, "user", "x", "y", 1, -3); }},
        HostAttempt{"io_uring", [](const char*) { return ::syscall(SYS_io_uring_setup, 1, 0); }},
        HostAttempt{"bpf", [](const char*) { return ::syscall(SYS_bpf, 0, 0, 0); }},
        HostAttempt{"setuid", [](const char*) { return ::setuid(12345); }},
        HostAttempt{"limits_of_others", [](const char*) { return ::syscall(SYS_prlimit64, ::getppid(), 0, 0, 0); }},
        HostAttempt{"signals_by_fcntl", [](const char*) { return ::fcntl(0, F_SETOWN, ::getppid()); }}),
    [](const auto& info) { return info.param.name; });

TEST(HostCodeFilter, LetsMemoryBeMappedThatIsCounted) {
  EXPECT_EQ(under_host_filter([] {
              const int fd = ::open("/proc/self/exe", O_RDONLY);
              const bool shared = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
              return map(MAP_PRIVATE | MAP_ANONYMOUS) == 0 && shared ? 0 : 1;
            }),
            0);
  EXPECT_EQ(under_host_filter([] { return map(MAP_SHARED | MAP_ANONYMOUS) == 0 ? 0 : 1; }, {.shares_memory = true}), 0);
  EXPECT_EQ(under_host_filter([] { return ::memfd_create("x", 0) >= 0 ? 0 : 1; }, {.makes_memory = true}), 0);
}

TEST(HostCodeFilter, LetsProgramsRunAndFilesBeMade) {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path / "a").string(), renamed = (scratch.path / "b").string(),
                    directory = (scratch.path / "d").string();
  EXPECT_EQ(under_host_filter([&] {
              int steps = 0;
              if (::mkdir(directory.c_str(), 0700) == 0 && ::rmdir(directory.c_str()) == 0) ++steps;
              const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
              if (fd >= 0 && ::write(fd, "x", 1) == 1 && ::rename(file.c_str(), renamed.c_str()) == 0) ++steps;
              const pid_t child = ::fork();
              if (child == 0) ::execl("/bin/true", "true", nullptr), ::_exit(1);
              int status = 1;
              if (child > 0 && ::waitpid(child, &status, 0) == child && status == 0) ++steps;
              return steps;
            }),
            3);
}

}  // namespace
}  // namespace passnet::sandbox
