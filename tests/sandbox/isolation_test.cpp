#include "sandbox/isolation.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/file/file.h"
#include "sandbox/empty_root.h"
#include "sandbox/memory_group.h"
#include "tests/scratch.h"

namespace passnet::sandbox {
namespace {

constexpr int kNoFilter = 255;

/// Runs `attempt` in a forked process under the filter of workers; its result is the exit code (0 … 254).
int under_filter(const std::function<int()>& attempt, const WorkerFilter& allowed = {.opens_files = true}) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(enter_worker_filter(allowed) ? attempt() : kNoFilter);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
/// The errno of a call that gives -1, else 0.
int errno_of(long result) { return result == -1 ? errno : 0; }

std::string file_in(const ScratchDirectory& scratch) {
  std::string path = (scratch.path / "file").string();
  EXPECT_TRUE(write_file(path, "text"));
  return path;
}

TEST(WorkerFilter, LetsOnlyAGpusWorkerAskItsDevices) {
  const auto ask = [] { return errno_of(::ioctl(0, FIONREAD, nullptr)); };
  EXPECT_EQ(under_filter(ask), EPERM);
  EXPECT_NE(under_filter(ask, {.gpu = true}), EPERM);
}

TEST(WorkerFilter, OpensNoFileByNameUnlessItIsSaidTo) {
  const ScratchDirectory scratch;
  const std::string path = file_in(scratch);
  const auto open = [&](int flags) { return [&, flags] { return errno_of(::open(path.c_str(), flags | O_CLOEXEC)); }; };
  EXPECT_EQ(under_filter(open(O_RDONLY), {}), EPERM);
  EXPECT_EQ(under_filter(open(O_RDONLY | O_DIRECTORY), {}), EPERM);
  EXPECT_EQ(under_filter(open(O_RDONLY), {.opens_files = true}), 0);
  EXPECT_EQ(under_filter(open(O_RDWR), {.opens_files = true}), EPERM);
}

TEST(WorkerFilter, LetsWhoSharesMemoryOfAGpuOpenWhatIsThereAndMakeNothing) {
  const ScratchDirectory scratch;
  const std::string path = file_in(scratch);
  const WorkerFilter sharing{.gpu = true, .opens_files = true, .shares_gpu = true};
  EXPECT_EQ(under_filter([&] { return errno_of(::open(path.c_str(), O_RDWR)); }, sharing), 0);
  EXPECT_EQ(under_filter([&] { return errno_of(::open(path.c_str(), O_RDWR | O_TRUNC)); }, sharing), EPERM);
  EXPECT_EQ(under_filter([&] { return errno_of(::open((path + "2").c_str(), O_WRONLY | O_CREAT, 0600)); }, sharing),
            EPERM);
  EXPECT_EQ(read_file(path, FileKind::Settings).value(), "text");
}

struct Attempt {
  const char* name;
  std::function<long(const char* path)> call;
};
void PrintTo(const Attempt& attempt, std::ostream* out) { *out << attempt.name; }

class Refused : public testing::TestWithParam<Attempt> {};

TEST_P(Refused, WithEperm) {
  const ScratchDirectory scratch;
  const std::string path = file_in(scratch);
  EXPECT_EQ(under_filter([&] { return errno_of(GetParam().call(path.c_str())); }), EPERM);
  EXPECT_EQ(read_file(path, FileKind::Lines).value(), "text");
}

INSTANTIATE_TEST_SUITE_P(
    WorkerFilter, Refused,
    testing::Values(
        Attempt{"open_for_writing", [](const char* path) { return ::open(path, O_WRONLY); }},
        Attempt{"open_read_write", [](const char* path) { return ::open(path, O_RDWR); }},
        Attempt{
            "create",
            [](const char* path) { return ::open((std::string(path) + ".new").c_str(), O_RDONLY | O_CREAT, 0600); }},
        Attempt{"truncate_on_open", [](const char* path) { return ::open(path, O_RDONLY | O_TRUNC); }},
        Attempt{"truncate", [](const char* path) { return ::truncate(path, 0); }},
        Attempt{"unlink", [](const char* path) { return ::unlink(path); }},
        Attempt{"rename", [](const char* path) { return ::rename(path, (std::string(path) + ".new").c_str()); }},
        Attempt{"mkdir", [](const char* path) { return ::mkdir((std::string(path) + ".d").c_str(), 0700); }},
        Attempt{"chmod", [](const char* path) { return ::chmod(path, 0777); }},
        Attempt{"link", [](const char* path) { return ::link(path, (std::string(path) + ".l").c_str()); }},
        Attempt{"socket", [](const char*) { return ::socket(AF_INET, SOCK_STREAM, 0); }},
        Attempt{"unix_socket", [](const char*) { return ::socket(AF_UNIX, SOCK_STREAM, 0); }},
        Attempt{"connect", [](const char*) { return ::connect(0, nullptr, 0); }},
        Attempt{"execve", [](const char*) { return ::execl("/bin/true", "true", nullptr); }},
        Attempt{"fork", [](const char*) { return ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }},
        Attempt{"kill_others", [](const char*) { return ::kill(::getppid(), 0); }},
        Attempt{"tgkill_others", [](const char*) { return ::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0); }},
        Attempt{"end_itself_as_from_outside",
                [](const char*) { return ::syscall(SYS_tgkill, ::getpid(), ::gettid(), SIGTERM); }},
        Attempt{"ptrace", [](const char*) { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
        Attempt{"process_vm_writev",
                [](const char*) { return ::syscall(SYS_process_vm_writev, ::getppid(), 0, 0, 0, 0, 0); }},
        Attempt{"unshare", [](const char*) { return ::unshare(CLONE_NEWUSER); }},
        Attempt{"io_uring", [](const char*) { return ::syscall(SYS_io_uring_setup, 1, 0); }},
        Attempt{"bpf", [](const char*) { return ::syscall(SYS_bpf, 0, 0, 0); }},
        Attempt{"setuid", [](const char*) { return ::setuid(12345); }},
        Attempt{"limits_of_others", [](const char*) { return ::syscall(SYS_prlimit64, ::getppid(), 0, 0, 0); }},
        Attempt{"signals_by_fcntl", [](const char*) { return ::fcntl(0, F_SETOWN, ::getppid()); }},
        Attempt{"dumpable_by_prctl", [](const char*) { return ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }}),
    [](const auto& info) { return info.param.name; });

TEST(WorkerFilter, LeavesComputingItsMeans) {
  const ScratchDirectory scratch;
  const std::string path = file_in(scratch);
  EXPECT_EQ(under_filter([&] {
              int steps = 0;
              std::thread([&] { ++steps; }).join();
              void* memory = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              if (memory != MAP_FAILED && ::mprotect(memory, 4096, PROT_READ) == 0 && ::munmap(memory, 1 << 20) == 0)
                ++steps;
              const int shared = static_cast<int>(::memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING));
              if (shared >= 0 && ::ftruncate(shared, 4096) == 0 && ::fcntl(shared, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
                ++steps;
              if (::open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0) ++steps;
              timespec now;
              if (::clock_gettime(CLOCK_MONOTONIC, &now) == 0 && ::usleep(1) == 0) ++steps;
              cpu_set_t cpus;
              if (::sched_getaffinity(0, sizeof cpus, &cpus) == 0) ++steps;
              return steps;
            }),
            6);
}

TEST(WorkerFilter, LetsTheInheritedSocketTalk) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(under_filter([&] {
              char byte = 'a';
              iovec part{&byte, 1};
              msghdr message{};
              message.msg_iov = &part;
              message.msg_iovlen = 1;
              if (::sendmsg(ends[0], &message, 0) != 1) return 1;
              return ::recvmsg(ends[1], &message, 0) == 1 ? 0 : 2;
            }),
            0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(WorkerFilter, AbortStillAborts) {
  EXPECT_EQ(under_filter([]() -> int { std::abort(); }), 1000 + SIGABRT);
}

TEST(WorkerFilter, HoldsInThreadsThatRanBefore) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> phase = 0, result = -1;
    std::thread early([&] {
      phase.wait(0);
      result = errno_of(::socket(AF_UNIX, SOCK_STREAM, 0));
    });
    const bool entered = enter_worker_filter({}).has_value();
    phase = 1;
    phase.notify_all();
    early.join();
    ::_exit(entered ? result.load() : kNoFilter);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), EPERM);
}

TEST(NoWriteRuleset, OpensForReadingWhatIsNamedAlone) {
  if (!no_write_ruleset("", false)) GTEST_SKIP() << "1 check skipped: the kernel has no Landlock";
  const ScratchDirectory scratch;
  const auto path = [&](const char* name) { return (scratch.path / name).string(); };
  for (const char* name : {"own/file", "shown/file", "one", "hidden"})
    ASSERT_TRUE(write_file(scratch.path / name, "text"));
  const std::vector<std::string> readable = {path("shown"), path("one")};
  const pid_t child = ::fork();
  if (child == 0) {
    const UniqueFd rules = no_write_ruleset(path("own"), false, &readable);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) ::_exit(kNoFilter);
    const auto opens = [&](const char* name) { return ::open(path(name).c_str(), O_RDONLY) >= 0; };
    const bool shown = opens("own/file") && opens("own") && opens("shown/file") && opens("shown") && opens("one");
    ::_exit(!shown ? 1 : opens("hidden") || opens(".") || opens("shown/../hidden") ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Isolation, DescribesWhatTheMachineGivesAndWhatIsInForce) {
  EXPECT_THAT(describe_isolation(), testing::HasSubstr("no new privileges"));
  EXPECT_EQ(describe_isolation().find("namespaces") != std::string::npos, namespaces_available());
  EXPECT_EQ(describe_isolation().find("; compilers in an empty root") != std::string::npos,
            namespaces_available() && empty_root_available());
  EXPECT_EQ(describe_isolation().ends_with("; memory control groups"), memory_group_available());
  EXPECT_EQ(
      under_filter([] { return describe_own_isolation(false).ends_with("no new privileges; seccomp filter") ? 0 : 1; }),
      0);
}

}  // namespace
}  // namespace passnet::sandbox
