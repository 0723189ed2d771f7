#include "sandbox/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>

#include "sandbox/empty_root.h"
#include "sandbox/isolation.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::sandbox {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string kChild = tests::binary_dir().string() + "/bin/sandbox_child";

SpawnOptions child(std::vector<std::string> arguments, Isolation isolation = Isolation::None) {
  SpawnOptions options;
  options.argv = {kChild};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.isolation = isolation;
  options.capture_output = true;
  return options;
}

struct Ended {
  std::string how, output;
};
Ended run(const SpawnOptions& options, std::chrono::milliseconds timeout = 20s, size_t limit = 1 << 16) {
  Ended ended;
  auto process = Process::spawn(options);
  if (!process) return {to_string(process.error()), ""};
  const auto status = process->wait_output(timeout, limit, &ended.output);
  ended.how = status ? to_string(*status) : "time-out";
  EXPECT_FALSE(process->running());
  return ended;
}

struct SocketPair {
  UniqueFd ours, theirs;
  SocketPair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours = UniqueFd(ends[0]);
    theirs = UniqueFd(ends[1]);
  }
  /// Reads until nobody holds the other end any more; false after 10 s.
  bool everyone_gone() {
    char buffer[16];
    for (pollfd watched{ours.get(), POLLIN, 0}; ::poll(&watched, 1, 10000) > 0;) {
      if (::read(ours.get(), buffer, sizeof buffer) <= 0) return true;
    }
    return false;
  }
  bool ready() {
    char byte = 0;
    return ::read(ours.get(), &byte, 1) == 1 && byte == 'r';
  }
};

class EveryIsolation : public testing::TestWithParam<Isolation> {};
INSTANTIATE_TEST_SUITE_P(Process, EveryIsolation, testing::Values(Isolation::None, Isolation::Jail, Isolation::Worker));

TEST_P(EveryIsolation, SaysHowAChildEnded) {
  EXPECT_EQ(run(child({"exit", "0"}, GetParam())).how, "exit code 0");
  EXPECT_EQ(run(child({"exit", "7"}, GetParam())).how, "exit code 7");
  EXPECT_EQ(run(child({"segv"}, GetParam())).how, "killed by SIGSEGV (invalid memory access)");
  EXPECT_EQ(run(child({"abort"}, GetParam())).how, "killed by SIGABRT (aborted itself)");
}

TEST_P(EveryIsolation, StopsAChildThatHangsAndLeavesNoZombie) {
  auto process = Process::spawn(child({"hang"}, GetParam()));
  ASSERT_TRUE(process) << to_string(process.error());
  const pid_t pid = process->pid();
  EXPECT_EQ(::kill(pid, 0), 0);
  EXPECT_FALSE(process->wait(20ms));
  EXPECT_EQ(to_string(process->kill()), "killed by SIGKILL (killed from outside)");
  EXPECT_FALSE(process->running());
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(run(child({"hang"}, GetParam()), 30ms).how, "time-out");
}

TEST_P(EveryIsolation, StopsAtTheLimitOfProcessorTime) {
  SpawnOptions options = child({"spin"}, GetParam());
  options.limits.cpu_seconds = 1;
  EXPECT_EQ(run(options).how, "killed by SIGXCPU (CPU time limit)");
}

TEST_P(EveryIsolation, RefusesMemoryAboveTheLimit) {
  SpawnOptions options = child({"memory"}, GetParam());
  options.limits.memory_bytes = 64 << 20;
  EXPECT_EQ(run(options).output, "ENOMEM\n");
}

TEST_P(EveryIsolation, ReportsMemoryAndTime) {
  SpawnOptions options = child({"memory"}, GetParam());
  options.limits.memory_bytes = 64 << 20;
  auto process = Process::spawn(options);
  ASSERT_TRUE(process);
  const auto status = process->wait(20s);
  ASSERT_TRUE(status);
  EXPECT_GT(status->max_rss_bytes, 32 << 20);
  EXPECT_LT(status->max_rss_bytes, 80 << 20);
  EXPECT_GT(status->cpu_seconds, 0);
}

TEST_P(EveryIsolation, KeepsTheFirstPartOfTooMuchOutput) {
  const Ended ended = run(child({"output"}, GetParam()), 20s, 1000);
  EXPECT_EQ(ended.how, "exit code 0");
  EXPECT_EQ(ended.output.size(), 1000u);
  EXPECT_TRUE(ended.output.starts_with("0123456789"));
}

TEST_P(EveryIsolation, GivesTheChildExactlyTheEnvironment) {
  SpawnOptions options = child({"environment"}, GetParam());
  options.environment = {"A=1", "B=two words"};
  EXPECT_EQ(run(options).output, "A=1\nB=two words\n");
}

TEST_P(EveryIsolation, ClosesAllDescriptorsButTheSocket) {
  const UniqueFd leak(::open("/dev/null", O_RDONLY));  // not close-on-exec
  SocketPair sockets;
  SpawnOptions options = child({"descriptors"}, GetParam());
  EXPECT_EQ(run(options).output, "0 1 2 \n");
  options.socket_fd = sockets.theirs.get();
  EXPECT_EQ(run(options).output, "0 1 2 3 \n");
}

TEST_P(EveryIsolation, SaysThatTheProgramIsMissing) {
  SpawnOptions options = child({}, GetParam());
  options.argv = {"/nowhere/program"};
  EXPECT_EQ(run(options).how, "error: cannot start '/nowhere/program': No such file or directory");
  options = child({"exit", "0"}, GetParam());
  options.working_directory = "/nowhere";
  EXPECT_EQ(run(options).how, "error: cannot enter directory '/nowhere': No such file or directory");
}

TEST_P(EveryIsolation, LeavesNoChildBehindWhenWeDie) {
  SocketPair sockets;
  const pid_t starter = ::fork();
  if (starter == 0) {
    SpawnOptions options = child({"hang"}, GetParam());
    options.socket_fd = sockets.theirs.get();
    auto process = Process::spawn(options);
    ::_exit(process ? 0 : 1);  // without destructors
  }
  sockets.theirs = UniqueFd();
  int status = -1;
  ASSERT_EQ(::waitpid(starter, &status, 0), starter);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(sockets.everyone_gone());
}

class EveryJail : public testing::TestWithParam<Isolation> {};
INSTANTIATE_TEST_SUITE_P(Process, EveryJail, testing::Values(Isolation::Jail, Isolation::Worker));

TEST_P(EveryJail, EndsGrandchildrenThatLeftTheGroup) {
  if (!namespaces_available()) GTEST_SKIP() << "1 check skipped: the kernel gives no namespaces here";
  for (const char* mode : {"spread-and-stay", "spread-and-leave"}) {
    SocketPair sockets;
    SpawnOptions options = child({mode}, GetParam());
    options.socket_fd = sockets.theirs.get();
    auto process = Process::spawn(options);
    ASSERT_TRUE(process) << to_string(process.error());
    sockets.theirs = UniqueFd();
    ASSERT_TRUE(sockets.ready());
    if (mode == std::string("spread-and-stay"))
      process->kill();
    else
      EXPECT_EQ(to_string(process->wait(20s).value()), "exit code 0");
    EXPECT_TRUE(sockets.everyone_gone()) << mode;
  }
}

TEST_P(EveryJail, HasNoNetwork) {
  if (!namespaces_available()) GTEST_SKIP() << "1 check skipped: the kernel gives no namespaces here";
  EXPECT_EQ(run(child({"connect"}, GetParam())).output, "ENETUNREACH\n");
  EXPECT_EQ(run(child({"connect"})).output, "ECONNREFUSED\n");
}

TEST_P(EveryJail, CannotBecomeSomeoneElse) {
  EXPECT_THAT(run(child({"privileges"}, GetParam())).output, testing::AnyOf("EPERM\n", "EINVAL\n"));
}

TEST(Process, WritesOnlyBelowTheWorkingDirectoryOfAJail) {
  if (!no_write_ruleset("", false)) GTEST_SKIP() << "1 check skipped: the kernel has no Landlock";
  const ScratchDirectory scratch;
  const std::filesystem::path& directory = scratch.path;
  std::filesystem::create_directories(directory / "inside");
  const auto write = [&](const char* name, Isolation isolation) {
    SpawnOptions options = child({"write", (directory / name).string()}, isolation);
    options.working_directory = (directory / "inside").string();
    return run(options).output;
  };
  EXPECT_EQ(write("inside/file", Isolation::Jail), "ok\n");
  EXPECT_EQ(write("outside", Isolation::Jail), "EACCES\n");
  EXPECT_EQ(write("inside/file", Isolation::Worker), "EACCES\n");
  EXPECT_EQ(write("outside", Isolation::None), "ok\n");
}

TEST(Process, MovesFilesOnlyBelowTheWorkingDirectoryOfAJail) {
  if (!no_write_ruleset("", false)) GTEST_SKIP() << "1 check skipped: the kernel has no Landlock";
  const ScratchDirectory scratch;
  const std::filesystem::path& directory = scratch.path;
  std::filesystem::create_directories(directory / "inside" / "below");
  const auto move = [&](const char* from, const char* to) {
    EXPECT_TRUE(write_file(directory / from, "text"));
    SpawnOptions options = child({"move", (directory / from).string(), (directory / to).string()}, Isolation::Jail);
    options.working_directory = (directory / "inside").string();
    return run(options).output;
  };
  EXPECT_EQ(move("inside/below/file", "inside/file"), "ok\n");
  EXPECT_NE(move("inside/file", "outside"), "ok\n");
  EXPECT_NE(move("outside", "inside/taken"), "ok\n");
  EXPECT_FALSE(std::filesystem::exists(directory / "inside/taken"));
}

/// A Jail that sees the system's libraries, its own program, a directory, a file and its working directory.
class EmptyRoot : public testing::Test {
 protected:
  void SetUp() override {
    if (!namespaces_available() || !empty_root_available())
      GTEST_SKIP() << "1 check skipped: the kernel gives no root of one's own here";
    std::filesystem::create_directories(directory_ / "inside");
    std::filesystem::create_directories(directory_ / "shown/below");
    ASSERT_TRUE(write_file(directory_ / "hidden", "text"));
    ASSERT_TRUE(write_file(directory_ / "shown/file", "text"));
    std::filesystem::create_symlink("shown/file", directory_ / "link");
  }
  std::string run_in_it(std::vector<std::string> arguments, const std::function<void(SpawnOptions&)>& change = {}) {
    SpawnOptions options = child(std::move(arguments), Isolation::Jail);
    options.working_directory = (directory_ / "inside").string();
    options.visible = {kChild, (directory_ / "shown").string(), (directory_ / "link").string()};
    for (const char* libraries : {"/lib", "/lib64", "/usr/lib"}) {
      if (std::filesystem::exists(libraries)) options.visible.push_back(libraries);
    }
    if (change) change(options);
    const Ended ended = run(options);
    return ended.how == "exit code 0" ? ended.output : ended.how;
  }

  const ScratchDirectory scratch_;
  const std::filesystem::path& directory_ = scratch_.path;
};

TEST_F(EmptyRoot, HoldsWhatWasNamedAlone) {
  EXPECT_EQ(run_in_it({"list", directory_.string()}), "inside\nlink\nshown\n");
  EXPECT_EQ(run_in_it({"list", (directory_ / "shown").string()}), "below\nfile\n");
  EXPECT_EQ(run_in_it({"list", "/proc"}), "ENOENT\n");
  EXPECT_EQ(run_in_it({"list", "/etc"}), "ENOENT\n");
  EXPECT_EQ(run_in_it({"list", "/.host"}), "ENOENT\n");
  EXPECT_THAT(run_in_it({"list", "/"}), testing::Not(HasSubstr("dev")));
}

TEST_F(EmptyRoot, CanBeWrittenInTheWorkingDirectoryAlone) {
  EXPECT_EQ(run_in_it({"write", (directory_ / "inside/file").string()}), "ok\n");
  EXPECT_TRUE(std::filesystem::exists(directory_ / "inside/file"));
  for (const char* name : {"outside", "shown/file", "shown/new"}) {
    EXPECT_THAT(run_in_it({"write", (directory_ / name).string()}), testing::AnyOf("EACCES\n", "EROFS\n")) << name;
  }
  EXPECT_EQ(read_file(directory_ / "shown/file", FileKind::Lines).value(), "text");
}

TEST_F(EmptyRoot, FollowsLinksInDirectoriesToFilesThatWereNamed) {
  std::filesystem::create_symlink(directory_ / "hidden", directory_ / "shown/link");
  const std::string link = (directory_ / "shown/link").string();
  EXPECT_EQ(run_in_it({"read", link}), "ENOENT\n");
  const auto name_it = [&](SpawnOptions& options) { options.visible.push_back(link); };
  EXPECT_EQ(run_in_it({"read", link}, name_it), "ok\n");
  EXPECT_EQ(run_in_it({"list", directory_.string()}, name_it), "hidden\ninside\nlink\nshown\n");
}

TEST_F(EmptyRoot, HasDevicesThatWereNamed) {
  const auto name_it = [](SpawnOptions& options) { options.visible.push_back("/dev/urandom"); };
  EXPECT_EQ(run_in_it({"read", "/dev/urandom"}, name_it), "ok\n");
  EXPECT_THAT(run_in_it({"write", "/dev/urandom"}, name_it), testing::AnyOf("EACCES\n", "EROFS\n"));
  EXPECT_EQ(run_in_it({"list", "/dev"}, name_it), "urandom\n");
}

TEST_F(EmptyRoot, ShowsItsOwnProcessesAlone) {
  if (!own_proc_available()) GTEST_SKIP() << "1 check skipped: the kernel gives no /proc of one's own here";
  const auto with_proc = [](SpawnOptions& options) { options.proc = true; };
  EXPECT_EQ(run_in_it({"processes"}, with_proc), "1\n");
  EXPECT_EQ(run_in_it({"read", "/proc/1/cmdline"}, with_proc), "ENOENT\n");
  EXPECT_EQ(run_in_it({"read", "/proc/self/cmdline"}, with_proc), "ok\n");
  EXPECT_THAT(run_in_it({"write", "/proc/sys/kernel/core_pattern"}, with_proc), testing::AnyOf("EACCES\n", "EROFS\n"));
}

TEST_F(EmptyRoot, WritesToMemoryOfBoundedSize) {
  const auto bounded = [](SpawnOptions& options) { options.scratch_bytes = 4 << 20; };
  const std::string file = (directory_ / "inside/file").string();
  ASSERT_TRUE(write_file(directory_ / "inside/before", "text"));
  EXPECT_EQ(run_in_it({"list", (directory_ / "inside").string()}, bounded), "");
  EXPECT_EQ(run_in_it({"fill-file", file, "3"}, bounded), "ok\n");
  EXPECT_EQ(run_in_it({"fill-file", file, "5"}, bounded), "ENOSPC\n");
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THAT(run_in_it({"write", (directory_ / "shown/new").string()}, bounded),
              testing::AnyOf("EACCES\n", "EROFS\n"));
}

class GroupMemory : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(GroupMemory, IsBoundedForAllProcessesTogether) {
  if (!memory_group_available()) GTEST_SKIP() << "1 check skipped: no memory control group can be made here";
  SpawnOptions options = child(GetParam(), Isolation::Jail);
  const ScratchDirectory scratch;
  options.working_directory = scratch.path.string();
  const auto ended_with = [&](int megabytes) {
    options.limits.group_bytes = int64_t{megabytes} << 20;
    auto process = Process::spawn(options);
    EXPECT_TRUE(process) << to_string(process.error());
    const auto status = process->wait(20s);
    return status ? status->out_of_memory : false;
  };
  EXPECT_TRUE(ended_with(24));
  EXPECT_FALSE(GetParam()[0] != "fill-processes" && ended_with(200));
}

INSTANTIATE_TEST_SUITE_P(Process, GroupMemory,
                         testing::Values(std::vector<std::string>{"fill-memfd", "64"},
                                         std::vector<std::string>{"fill-shared", "64"},
                                         std::vector<std::string>{"fill-processes", "64"}));

TEST_F(EmptyRoot, SaysWhichNamedFileIsMissing) {
  SpawnOptions options = child({"list", "/"}, Isolation::Jail);
  options.working_directory = (directory_ / "inside").string();
  options.visible = {"/absent/file"};
  EXPECT_EQ(run(options).how, "error: cannot find '/absent/file': No such file or directory");
}

TEST(Process, OfAGpuSeesItsOwnProcAndMayWriteToItsEntry) {
  if (!own_proc_available()) GTEST_SKIP() << "1 check skipped: the kernel gives no /proc of one's own here";
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c",
                  "echo renamed > /proc/self/comm && test ! -e /proc/1 && grep -c . /proc/self/comm && "
                  "echo x > /tmp/passnet-gpu-test"};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.isolation = Isolation::Worker;
  options.capture_output = true;
  options.gpu = true;
  const Ended ended = run(options);
  EXPECT_THAT(ended.output, HasSubstr("1\n"));
  EXPECT_THAT(ended.output, HasSubstr("cannot create /tmp/passnet-gpu-test: Permission denied"));
  options.gpu = false;
  EXPECT_THAT(run(options).output, HasSubstr("/proc/self/comm: Permission denied"));
}

TEST(Process, StopsAtTheLimitOfFileSize) {
  const ScratchDirectory scratch;
  const std::filesystem::path path = scratch.path / "big";
  SpawnOptions options = child({"big-file", path.string()});
  options.limits.file_bytes = 100000;
  EXPECT_EQ(run(options).how, "killed by SIGXFSZ (file size limit)");
  EXPECT_EQ(std::filesystem::file_size(path), 100000u);
}

TEST(Process, EndsByAnInterruption) {
  auto process = Process::spawn(child({"hang"}));
  ASSERT_TRUE(process) << to_string(process.error());
  const std::atomic<bool> interrupted = true;
  std::string output;
  EXPECT_FALSE(process->wait_output(1h, 1, &output, &interrupted));
  EXPECT_FALSE(process->running());
}

TEST(Process, EndsTheGroupWithItsLeader) {
  SocketPair sockets;
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "sleep 1000 & printf r >&3"};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.socket_fd = sockets.theirs.get();
  auto process = Process::spawn(options);
  ASSERT_TRUE(process);
  sockets.theirs = UniqueFd();
  EXPECT_TRUE(sockets.ready());
  EXPECT_TRUE(process->wait(20s));
  EXPECT_TRUE(sockets.everyone_gone());
}

}  // namespace
}  // namespace passnet::sandbox
