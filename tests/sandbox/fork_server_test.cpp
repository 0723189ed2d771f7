#include "sandbox/fork_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "sandbox/isolation.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::sandbox {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class Fork : public testing::Test {
 protected:
  void SetUp() override {
    if (!ForkServer::available()) GTEST_SKIP() << "the kernel gives no namespaces";
    start();
  }

  void start() {
    SpawnOptions first;
    first.argv = {tests::binary_dir().string() + "/bin/sandbox_child", "of the server"};
    first.environment = {"A=of the server"};
    const Result<void> started = server_.start(first);
    ASSERT_TRUE(started) << to_string(started.error());
  }

  Result<Process> fork(const std::vector<std::string>& arguments) {
    SpawnOptions copy;
    copy.argv = {"a copy"};
    copy.argv.insert(copy.argv.end(), arguments.begin(), arguments.end());
    output_ = UniqueFd(::memfd_create("output", MFD_CLOEXEC));
    copy.socket_fd = copy.output_fd = output_.get();
    return server_.fork(copy);
  }

  /// How a copy with these arguments ended.
  std::string run(const std::vector<std::string>& arguments) {
    Result<Process> copy = fork(arguments);
    if (!copy) return to_string(copy.error());
    const auto status = copy->wait(20s);
    return status ? to_string(*status) : "time-out";
  }

  std::string printed() const {
    std::array<char, 4096> text{};
    const ssize_t size = ::pread(output_.get(), text.data(), text.size(), 0);
    return std::string(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  }

  ForkServer server_;
  UniqueFd output_;
};

TEST_F(Fork, CopiesEndAsTheirMainFunctionDoes) {
  EXPECT_EQ(run({"exit", "7"}), "exit code 7");
  EXPECT_EQ(run({"exit", "0"}), "exit code 0");
  EXPECT_EQ(run({"segv"}), "killed by SIGSEGV (invalid memory access)");
  EXPECT_EQ(run({"abort"}), "killed by SIGABRT (aborted itself)");
}

TEST_F(Fork, CopiesHaveTheEnvironmentOfTheServer) {
  EXPECT_EQ(run({"environment"}), "exit code 0");
  EXPECT_EQ(printed(), "A=of the server\n");
}

TEST_F(Fork, CopiesShowTheirOwnArguments) {
  const Result<Process> copy = fork({"hang"});
  ASSERT_TRUE(copy) << to_string(copy.error());
  const std::string path = fmt::format("/proc/{}/cmdline", copy->pid());
  std::string shown;
  for (int i = 0; i < 1000 && !shown.starts_with("a copy"); ++i) {
    std::this_thread::sleep_for(10ms);
    if (const Result<std::string> read = read_file(path, FileKind::System)) shown = *read;
  }
  EXPECT_THAT(shown, StartsWith(std::string("a copy\0hang\0", 12)));
  EXPECT_EQ(shown.find("server"), std::string::npos);
}

TEST_F(Fork, CopiesHaveNoDescriptorButTheirOwn) {
  EXPECT_EQ(run({"descriptors"}), "exit code 0");
  EXPECT_EQ(printed(), "0 1 2 3 \n");
}

TEST_F(Fork, CopiesAreConfined) {
  const ScratchDirectory scratch;
  EXPECT_EQ(run({"connect"}), "exit code 0");
  EXPECT_EQ(printed(), "ENETUNREACH\n");
  EXPECT_EQ(run({"privileges"}), "exit code 0");
  EXPECT_EQ(printed(), "EINVAL\n");
  EXPECT_EQ(run({"write", (scratch.path / "file").string()}), "exit code 0");
  EXPECT_EQ(printed(), no_write_ruleset("", false) ? "EACCES\n" : "ok\n");
}

TEST_F(Fork, CopiesAreWatchedAndKilledLikeOtherChildren) {
  Result<Process> copy = fork({"hang"});
  ASSERT_TRUE(copy) << to_string(copy.error());
  EXPECT_FALSE(copy->wait(10ms));
  EXPECT_EQ(::kill(copy->pid(), 0), 0);
  EXPECT_EQ(to_string(copy->kill()), "killed by SIGKILL (killed from outside)");
}

TEST_F(Fork, CopiesOutliveTheServerWhichCanBeStartedAgain) {
  Result<Process> copy = fork({"hang"});
  ASSERT_TRUE(copy) << to_string(copy.error());
  ForkServer gone = std::move(server_);
  gone = ForkServer();
  EXPECT_FALSE(copy->wait(10ms));
  server_ = ForkServer();
  start();
  EXPECT_EQ(run({"exit", "3"}), "exit code 3");
}

TEST_F(Fork, ServerThatEndedIsTold) {
  server_ = ForkServer();
  SpawnOptions first;
  first.argv = {"/bin/true"};
  const Result<void> started = server_.start(first);
  ASSERT_TRUE(started) << to_string(started.error());
  EXPECT_THAT(run({"exit", "0"}), HasSubstr("the process that workers are copies of has ended"));
  EXPECT_FALSE(server_.running());
}

TEST_F(Fork, LongArgumentsAreRefused) {
  EXPECT_THAT(run({std::string(8000, 'x')}), HasSubstr("the arguments are too long"));
  EXPECT_EQ(run({"exit", "5"}), "exit code 5");
}

}  // namespace
}  // namespace passnet::sandbox
