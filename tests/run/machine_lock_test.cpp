#include "run/machine/machine_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <thread>

#include "base/file/file.h"
#include "run/machine/turns.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

/// A directory of locks that no other process uses.
class MachineLeases : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(directory_);
    ::setenv("PASSNET_LOCK_DIR", directory_.c_str(), 1);
  }
  void TearDown() override {
    if (before_)
      ::setenv("PASSNET_LOCK_DIR", before_->c_str(), 1);
    else
      ::unsetenv("PASSNET_LOCK_DIR");
  }
  static ThingsByKind processors(std::vector<int> of, size_t count) { return {{"processor", {std::move(of), count}}}; }
  static Waiting at_once(const std::string& command = "passnet test") { return {command, 0, {}, nullptr}; }
  std::vector<std::string> files(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      if (entry.path().filename().string().starts_with(prefix)) names.push_back(entry.path().filename());
    }
    return names;
  }

  const ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path / "lock";
  const std::optional<std::string> before_ =
      std::getenv("PASSNET_LOCK_DIR") ? std::optional<std::string>(std::getenv("PASSNET_LOCK_DIR")) : std::nullopt;
};

TEST_F(MachineLeases, TakeTheFirstThatAreFree) {
  const auto first = MachineLease::take(processors({3, 5, 7, 9}, 2), at_once());
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_THAT(first->held("processor"), ElementsAre(3, 5));
  EXPECT_THAT(first->held("gpu"), IsEmpty());
  const auto second = MachineLease::take(processors({3, 5, 7, 9}, 2), at_once());
  ASSERT_TRUE(second) << to_string(second.error());
  EXPECT_THAT(second->held("processor"), ElementsAre(7, 9));
}

TEST_F(MachineLeases, SayWhoHoldsAndWaitAtMostAsLongAsIsAsked) {
  const auto first = MachineLease::take(processors({1, 2}, 2), at_once("passnet author"));
  ASSERT_TRUE(first);
  const auto second = MachineLease::take(processors({1, 2}, 1), at_once());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Error::Kind::Resource);
  EXPECT_EQ(second.error().message,
            fmt::format("this machine is busy: first, held by 'passnet author' (pid {}, since 0 s)", ::getpid()));
  std::vector<std::string> told;
  const Waiting briefly{"passnet test", 0.1, [&](const std::string& why) { told.push_back(why); }, nullptr};
  const auto third = MachineLease::take(processors({2}, 1), briefly);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, MatchesRegex("waited 0.1 s for this machine: first, held by 'passnet author' .*"));
  EXPECT_THAT(told, ElementsAre(MatchesRegex(R"(first, held by 'passnet author' \(pid [0-9]+, since 0 s\))")));
  EXPECT_THAT(files("passnet-waits-"), IsEmpty());
}

TEST_F(MachineLeases, AreGivenToWhoeverCameFirst) {
  auto first = MachineLease::take(processors({1}, 1), at_once());
  ASSERT_TRUE(first);
  std::vector<std::string> order;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  std::vector<std::string> whys(3);
  for (size_t i = 0; i < whys.size(); ++i) {
    std::promise<void> waits;
    threads.emplace_back([&, i] {
      bool told = false;
      const Waiting waiting{fmt::format("passnet {}", i), std::nullopt,
                            [&, i](const std::string& why) {
                              if (!std::exchange(told, true)) {
                                whys[i] = why;
                                waits.set_value();
                              }
                            },
                            nullptr};
      const auto lease = MachineLease::take(processors({1}, 1), waiting);
      const std::lock_guard lock(mutex);
      order.push_back(fmt::format("passnet {}{}", i, lease ? "" : " failed"));
    });
    waits.get_future().wait();
  }
  EXPECT_TRUE(first->is_wanted());
  *first = MachineLease();
  threads.clear();
  EXPECT_THAT(order, ElementsAre("passnet 0", "passnet 1", "passnet 2"));
  EXPECT_THAT(whys, ElementsAre(MatchesRegex("first, held by 'passnet test' .*"),
                                MatchesRegex("second, held by 'passnet test' .*"),
                                MatchesRegex("third, held by 'passnet test' .*")));
}

TEST_F(MachineLeases, GiveOthersTheirTurnBetweenGraphs) {
  auto first = MachineLease::take(processors({1, 2}, 2), at_once());
  ASSERT_TRUE(first);
  Turns turns(*first, at_once("passnet eval"));
  std::vector<std::string> order;
  std::promise<void> waits;
  std::jthread other([&] {
    const Waiting waiting{"passnet agent run", std::nullopt, [&](const std::string&) { waits.set_value(); }, nullptr};
    const auto lease = MachineLease::take(processors({2}, 1), waiting);
    order.push_back("other");
  });
  {
    const auto graph = Turns::begin_graph(nullptr);
    EXPECT_TRUE(graph);
  }
  waits.get_future().wait();
  const auto graph = Turns::begin_graph(&turns);
  ASSERT_TRUE(graph) << to_string(graph.error());
  order.push_back("graph");
  other.join();
  EXPECT_THAT(order, ElementsAre("other", "graph"));
  EXPECT_THAT(first->held("processor"), ElementsAre(1, 2));
  EXPECT_FALSE(first->is_wanted());
}

TEST_F(MachineLeases, HoldNothingWhileTheyWait) {
  auto first = MachineLease::take(processors({2}, 1), at_once());
  ASSERT_TRUE(first);
  const auto look = [&](const std::string&) {
    // Not behind the one that waits, which wants both.
    const UniqueFd file(::open((directory_ / "passnet-processor-1").c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(file.get(), LOCK_EX | LOCK_NB), 0);
    *first = MachineLease();
  };
  EXPECT_TRUE(MachineLease::take(processors({1, 2}, 2), {"passnet test", std::nullopt, look, nullptr}));
}

TEST_F(MachineLeases, PassOverWhoeverDoesNotTakeWhatIsFree) {
  const auto directory = open_lock_directory();
  ASSERT_TRUE(directory);
  const auto stopped = OwnTicket::publish(*directory, OwnTicket::State::Waits, "passnet stopped", processors({1}, 1));
  ASSERT_TRUE(stopped);
  const auto refused = MachineLease::take(processors({1}, 1), at_once());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, MatchesRegex("this machine is busy: second, after 'passnet stopped' .*"));
  EXPECT_TRUE(MachineLease::take(processors({1}, 1), {"passnet test", 30, {}, nullptr, std::chrono::milliseconds(20)}));
}

TEST_F(MachineLeases, InterruptEndsTheWait) {
  const auto first = MachineLease::take(processors({1}, 1), at_once());
  const std::atomic<bool> interrupted{true};
  const auto second = MachineLease::take(processors({1}, 1), {"passnet test", std::nullopt, {}, &interrupted});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "interrupted");
}

TEST_F(MachineLeases, OfAKilledProcessAreFreeAndItsTicketGoes) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lease = MachineLease::take(processors({1}, 1), at_once());
    ::_exit(lease ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_THAT(files("passnet-holds-"), SizeIs(1));
  const auto lease = MachineLease::take(processors({1}, 1), at_once());
  EXPECT_TRUE(lease);
  EXPECT_THAT(files("passnet-holds-"), SizeIs(1));
}

TEST_F(MachineLeases, NameAHolderWithoutATicket) {
  { ASSERT_TRUE(MachineLease::take(processors({1}, 1), at_once())); }
  for (const int how : {LOCK_EX, LOCK_SH}) {
    const UniqueFd file(::open((directory_ / "passnet-processor-1").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(file.get(), how | LOCK_NB), 0);
    if (locking_process(file) == 0) GTEST_SKIP() << "/proc/locks does not tell it here";
    const auto lease = MachineLease::take(processors({1}, 1), at_once());
    ASSERT_FALSE(lease);
    EXPECT_THAT(lease.error().message,
                MatchesRegex(
                    fmt::format(R"(this machine is busy: first, held by '.*run_unit_test.*' \(pid {}\))", ::getpid())));
  }
}

TEST_F(MachineLeases, ReadNoTicketThatIsNone) {
  for (const char* text : {"", "{", "[]", R"({"command": "x", "pid": 1, "since_ns": 0, "things": {"processor": 3}})",
                           R"({"command": 5, "pid": 1, "since_ns": 0, "things": {}})"}) {
    ASSERT_TRUE(write_file(directory_ / "passnet-waits-00000000000000000000-1", std::string_view(text)));
    const UniqueFd file(::open((directory_ / "passnet-waits-00000000000000000000-1").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(file.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_TRUE(MachineLease::take(processors({1}, 1), at_once())) << text;
  }
}

TEST_F(MachineLeases, ShowNoControlCharactersOfATicket) {
  const auto directory = open_lock_directory();
  ASSERT_TRUE(directory);
  const auto other = OwnTicket::publish(*directory, OwnTicket::State::Holds, "a\x1b[2J\nb", processors({1}, 1));
  const auto queue = read_queue(*directory);
  ASSERT_TRUE(queue);
  ASSERT_THAT(queue->holding, SizeIs(1));
  EXPECT_EQ(queue->holding[0].text(), fmt::format("'a\\x1b[2J\\nb' (pid {}, since 0 s)", ::getpid()));
}

TEST_F(MachineLeases, NameWhatIsInTheWay) {
  const std::filesystem::path file = directory_ / "passnet-processor-1";
  const auto message = [&] {
    const auto lease = MachineLease::take(processors({1}, 1), at_once());
    return lease ? "none" : lease.error().message;
  };
  const std::string user = user_name(::geteuid());
  std::filesystem::create_symlink("elsewhere", file);
  EXPECT_EQ(message(), fmt::format("cannot lock '{}': it is a symbolic link of user '{}', expected a regular file that "
                                   "all may read",
                                   file.string(), user));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "elsewhere"));
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0644), 0);
  EXPECT_EQ(message(), fmt::format("cannot lock '{}': it is no regular file of user '{}', expected a regular file that "
                                   "all may read",
                                   file.string(), user));
}

TEST_F(MachineLeases, RefuseADirectoryWhereOthersCouldReplaceLocks) {
  std::filesystem::permissions(directory_, std::filesystem::perms(0777));
  const auto lease = MachineLease::take(processors({1}, 1), at_once());
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().message,
            fmt::format("PASSNET_LOCK_DIR '{}': every user may remove the locks of others in it, expected a sticky "
                        "directory",
                        directory_.string()));
  std::filesystem::permissions(directory_, std::filesystem::perms(01777));
  EXPECT_TRUE(MachineLease::take(processors({1}, 1), at_once()));
}

TEST_F(MachineLeases, FilesCanBeLockedByAllWhateverTheUmask) {
  const mode_t before = ::umask(077);
  { EXPECT_TRUE(MachineLease::take(processors({1}, 1), at_once())); }
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat((directory_ / "passnet-processor-1").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0644u);
}

}  // namespace
}  // namespace passnet::run
