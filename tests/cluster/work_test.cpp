// Workers whose command is a script: what becomes of items by how it ends.
#include "cluster/work.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "base/text/strings.h"
#include "cluster/queue.h"
#include "tests/scratch.h"

namespace passnet::cluster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class WorkTest : public testing::Test {
 protected:
  /// A program in place of `passnet`, called as `program eval ITEM --out OUT`; and a queue of one item.
  void prepare(const std::string& script, int tries = 2) {
    ASSERT_TRUE(write_file(options_.program, "#!/bin/sh\n" + script + "\n"));
    ASSERT_EQ(::chmod(options_.program.c_str(), 0755), 0);
    ASSERT_TRUE(Queue::create(path_, {{"eval"}, 60, tries})->add({{"item", "/list/item"}}));
  }
  std::vector<std::string> work() {
    std::vector<std::string> outcomes;
    WorkHooks hooks;
    hooks.finished = [&](const Claim& claim, const std::string& outcome) {
      outcomes.push_back(fmt::format("{}: {}", claim.number, outcome));
    };
    Queue queue = Queue::open(path_, "worker").value();
    const Result<Worked> worked = cluster::work(queue, options_, hooks);
    EXPECT_TRUE(worked.has_value()) << (worked ? "" : to_string(worked.error()));
    return outcomes;
  }

  const ScratchDirectory scratch_;
  const fs::path path_ = scratch_.path / "queue";
  WorkOptions options_{scratch_.path / "program", false, 0.1, nullptr};
};

TEST_F(WorkTest, ResultsArePublishedWithTheirLog) {
  prepare("mkdir \"$4\"; echo \"$1 $2 $3\"; exit 1");
  EXPECT_THAT(work(), ElementsAre("1: done"));
  const fs::path result = Queue::open(path_)->results()->at(0);
  EXPECT_EQ(result.filename(), "item");
  EXPECT_TRUE(fs::is_directory(result / "out"));
  EXPECT_EQ(read_file(result / "log.txt", FileKind::Lines).value(), "eval /list/item --out\n");
  EXPECT_THAT(work(), ElementsAre()) << "nothing is left";
}

TEST_F(WorkTest, WhatTheMachineKeptFromBeingDoneIsTriedAgain) {
  prepare("test \"${4%~1@worker/out}\" = \"$4\" || exit 4");  // the first try fails
  EXPECT_THAT(work(), ElementsAre("1: another try: exit code 4", "2: done"));
}

TEST_F(WorkTest, ATryThatWasKilledCountsAsTheMachines) {
  prepare("kill -9 $$", 1);
  EXPECT_THAT(work(), ElementsAre(testing::StartsWith("1: another try: killed by SIGKILL")));
  EXPECT_EQ(Queue::open(path_)->status()->failed, 1u) << "it was the last try";
}

TEST_F(WorkTest, BadInputFailsAtOnceAndNamesItsLog) {
  prepare("echo broken >&2; exit 3");
  const std::string log = (path_ / "work/item~1@worker/log.txt").string();
  EXPECT_THAT(work(), ElementsAre(fmt::format("1: failed: exit code 3; {}", log)));
  EXPECT_EQ(read_file(log, FileKind::Lines).value(), "broken\n");
}

TEST_F(WorkTest, AResultThatIsThereIsNotMadeAgain) {
  prepare("exit 70");
  fs::create_directories(Queue::open(path_)->result_of("item") / "out");
  EXPECT_THAT(work(), ElementsAre("1: done by another worker"));
  EXPECT_EQ(Queue::open(path_)->status()->done, 1u);
}

TEST_F(WorkTest, ADrainedQueueGivesNothing) {
  prepare("exit 0");
  ASSERT_TRUE(Queue::open(path_)->set_draining(true));
  EXPECT_THAT(work(), ElementsAre());
  EXPECT_EQ(Queue::open(path_)->status()->todo, 1u);
}

TEST_F(WorkTest, AWorkerDoesNotWaitForTheLastItemsOfOthers) {
  ASSERT_TRUE(Queue::create(path_, {{"eval"}, 1, 2})->add({{"item", "/list/item"}}));
  Queue other = Queue::open(path_, "other").value();
  const Claim claim = other.claim().value().value();
  std::atomic<bool> stop = false;
  std::thread beats([&] {
    for (; !stop; std::this_thread::sleep_for(std::chrono::milliseconds(50))) EXPECT_TRUE(other.renew(claim));
  });
  EXPECT_THAT(work(), ElementsAre());
  stop = true;
  beats.join();
  EXPECT_EQ(other.status()->claimed.size(), 1u);
}

TEST_F(WorkTest, AnInterruptedWorkerGivesItsItemBack) {
  prepare("exec sleep 60");
  std::atomic<bool> interrupted = false;
  options_.interrupted = &interrupted;
  WorkHooks hooks;
  hooks.started = [&](const Claim&) { interrupted = true; };
  Queue queue = Queue::open(path_, "worker").value();
  EXPECT_EQ(cluster::work(queue, options_, hooks).error().message, "interrupted");
  EXPECT_EQ(queue.status()->todo, 1u);
  EXPECT_EQ(queue.claim().value()->number, 1);
}

TEST_F(WorkTest, AWorkerThatLostItsLeaseEndsItsCommand) {
  ASSERT_TRUE(write_file(options_.program, std::string_view("#!/bin/sh\nexec sleep 60\n")));
  ASSERT_EQ(::chmod(options_.program.c_str(), 0755), 0);
  ASSERT_TRUE(Queue::create(path_, {{"eval"}, 1, 2})->add({{"item", "/list/item"}}));
  Queue other = Queue::open(path_, "other").value();
  WorkHooks hooks;
  hooks.started = [&](const Claim& claim) {
    // As another worker does that has heard nothing of it for long.
    EXPECT_TRUE(other.give_back(claim, true).value());
    EXPECT_TRUE(other.set_draining(true));
  };
  Queue queue = Queue::open(path_, "worker").value();
  const Result<Worked> worked = cluster::work(queue, options_, hooks);
  ASSERT_TRUE(worked.has_value());
  EXPECT_EQ(worked->lost, 1u);
  EXPECT_EQ(other.status()->todo, 1u);
}

}  // namespace
}  // namespace passnet::cluster
