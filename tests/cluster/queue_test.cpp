// A queue that many processes take items from: each item once, also when a worker is lost.
#include "cluster/queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/file/line_file.h"
#include "base/text/strings.h"
#include "cluster/queue_names.h"
#include "tests/scratch.h"
#include "tests/tiers.h"

namespace passnet::cluster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class QueueTest : public testing::Test {
 protected:
  Queue make(int items, QueueRules rules = {{"eval"}, 60, 3}) {
    Queue queue = Queue::create(path_, rules).value();
    std::vector<QueueItem> list;
    for (int i = 0; i < items; ++i) list.push_back({fmt::format("item_{}", i), fmt::format("/list/item_{}", i)});
    EXPECT_EQ(queue.add(list).value(), list.size());
    return queue;
  }
  Queue worker(const std::string& name) const { return Queue::open(path_, name).value(); }
  /// Lets the worker have sent no heartbeat for an hour.
  static void silence(const Claim& claim) {
    const timespec before[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, claim.file.c_str(), before, 0), 0);
  }
  std::string counts() const {
    const QueueStatus status = worker("").status().value();
    return fmt::format("{} items: {} waiting, {} claimed, {} done, {} failed", status.items, status.todo,
                       status.claimed.size(), status.done, status.failed);
  }

  const ScratchDirectory scratch_;
  const fs::path path_ = scratch_.path / "queue";
};

/// Starts processes that each call `run` with their number; all end with 0.
void in_processes(int count, const std::function<void(int)>& run) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      run(i);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(QueueTest, ProcessesTakeEachItemOnce) {
  const int items = full_tier() ? 20000 : 600, workers = 8;
  make(items);
  in_processes(workers, [&](int number) {
    Queue queue = worker(fmt::format("worker{}", number));
    std::string taken;
    while (const std::optional<Claim> claim = queue.claim().value()) {
      taken += claim->text + "\n";
      if (!queue.finish(*claim).value()) ::_exit(1);
    }
    if (!write_file(scratch_.path / fmt::format("{}", number), std::string_view(taken))) ::_exit(2);
  });
  std::map<std::string, int> times;
  for (int i = 0; i < workers; ++i) {
    const std::string text = read_file(scratch_.path / fmt::format("{}", i), FileKind::Lines).value();
    for (const std::string_view line : split(text, '\n')) {
      if (!line.empty()) ++times[std::string(line)];
    }
  }
  EXPECT_EQ(times.size(), static_cast<size_t>(items));
  EXPECT_TRUE(std::ranges::all_of(times, [](const auto& one) { return one.second == 1; }));
  EXPECT_EQ(counts(), fmt::format("{0} items: 0 waiting, 0 claimed, {0} done, 0 failed", items));
}

// A killed worker never sends its heartbeat: what it had is done by others, and nothing twice.
TEST_F(QueueTest, ProcessesThatTakeTheItemsOfLostWorkersDoEachOnce) {
  make(40);
  Queue lost = worker("lost");
  for (int i = 0; i < 7; ++i) silence(lost.claim().value().value());
  in_processes(4, [&](int number) {
    Queue queue = worker(fmt::format("worker{}", number));
    while (true) {
      const std::optional<Claim> claim = queue.claim().value();
      if (!claim && queue.expire().value() == 0) break;
      if (!claim) continue;
      fs::create_directories(queue.work_of(*claim) / "out");
      if (!queue.publish(*claim).value() || !queue.finish(*claim).value()) ::_exit(1);
    }
  });
  EXPECT_EQ(counts(), "40 items: 0 waiting, 0 claimed, 40 done, 0 failed");
  EXPECT_EQ(worker("").results()->size(), 40u);
}

TEST_F(QueueTest, OneWorkerInAQuarterOfALeaseLooksForLostOnes) {
  make(2);
  Queue lost = worker("lost"), quick = worker("quick");
  const Claim first = lost.claim().value().value(), second = lost.claim().value().value();
  silence(first);
  EXPECT_TRUE(quick.next(false)->claim);
  silence(second);
  const Turn turn = quick.next(false).value();
  EXPECT_FALSE(turn.claim || turn.ended);
  silence({{}, {}, 1, path_ / "workers/.expired"});
  EXPECT_TRUE(quick.next(false)->claim);
}

TEST_F(QueueTest, AWorkerThatComesBackAfterItsLeaseHasLostItsItem) {
  make(1);
  Queue slow = worker("slow"), quick = worker("quick");
  const Claim first = slow.claim().value().value();
  EXPECT_TRUE(slow.renew(first));
  EXPECT_EQ(quick.expire().value(), 0u) << "its heartbeat is new";
  silence(first);
  EXPECT_EQ(quick.expire().value(), 1u);
  const Claim second = quick.claim().value().value();
  EXPECT_EQ(second.text, first.text);
  EXPECT_EQ(second.number, 2);
  EXPECT_FALSE(slow.renew(first));
  EXPECT_FALSE(slow.finish(first).value());
  EXPECT_FALSE(slow.fail(first).value());
  fs::create_directories(quick.work_of(second) / "out");
  fs::create_directories(slow.work_of(first) / "out");
  EXPECT_TRUE(quick.publish(second).value());
  EXPECT_FALSE(slow.publish(first).value()) << "a result is published once";
  EXPECT_TRUE(quick.finish(second).value());
  EXPECT_EQ(counts(), "1 items: 0 waiting, 0 claimed, 1 done, 0 failed");
}

// A server that does the rename, and whose answer is lost, says to the same question once more that nothing is there.
TEST_F(QueueTest, ARenameWhoseAnswerWasLostIsKnownByTheNewName) {
  make(1);
  Queue queue = worker("worker");
  const Claim claim = queue.claim().value().value();
  EXPECT_TRUE(queue.finish(claim).value());
  EXPECT_TRUE(queue.finish(claim).value());
}

TEST_F(QueueTest, AnItemIsTriedAsOftenAsTheRulesSay) {
  make(1, {{"eval"}, 60, 2});
  Queue queue = worker("worker");
  EXPECT_TRUE(queue.give_back(queue.claim().value().value(), false).value());
  const Claim first = queue.claim().value().value();
  EXPECT_EQ(first.number, 1) << "an interrupted try does not count";
  EXPECT_TRUE(queue.give_back(first, true).value());
  const Claim second = queue.claim().value().value();
  EXPECT_EQ(second.number, 2);
  EXPECT_TRUE(queue.give_back(second, true).value());
  EXPECT_EQ(counts(), "1 items: 0 waiting, 0 claimed, 0 done, 1 failed");
  EXPECT_FALSE(queue.claim().value().has_value());
  EXPECT_EQ(queue.status()->failed_work, std::vector{(path_ / "work/item_0~2@worker").string()});
  EXPECT_EQ(queue.retry().value(), 1u);
  EXPECT_EQ(queue.claim().value()->number, 1);
}

TEST_F(QueueTest, ItemsAreAddedOnceAlsoAfterAnAddThatWasKilled) {
  Queue queue = make(5);
  EXPECT_EQ(queue.add({{"item_1", "/list/item_1"}, {"new", "/list/new"}}).value(), 1u);
  EXPECT_EQ(queue.add({{"item_1", "/other/item_1"}}).error().message,
            "'/other/item_1' and '/list/item_1' have the same name in the queue, 'item_1'");
  // Killed between the item and its state.
  for (const auto& entry : fs::recursive_directory_iterator(path_ / "todo")) {
    if (entry.path().filename() == "new~1") fs::remove(entry.path());
  }
  EXPECT_EQ(queue.add({{"new", "/list/new"}}).value(), 1u);
  EXPECT_EQ(counts(), "6 items: 6 waiting, 0 claimed, 0 done, 0 failed");
}

TEST_F(QueueTest, RulesAreThoseItWasMadeWith) {
  make(0);
  EXPECT_THAT(Queue::create(path_, {{"author"}, 60, 3}).error().message,
              testing::HasSubstr("has other rules: found {"));
  EXPECT_EQ(Queue::open(scratch_.path).error().message,
            fmt::format("no queue.json in '{}', expected a queue", scratch_.path.string()));
}

TEST_F(QueueTest, KeysAreNamesOfFiles) {
  EXPECT_EQ(key_of("/a/b/vit_add/"), "vit_add");
  EXPECT_EQ(key_of("facebook/opt 125m~1@x"), "opt_125m_1_x");
  EXPECT_EQ(key_of(".."), "_..");
  EXPECT_EQ(key_of(""), "_");
  EXPECT_EQ(key_of_name("3/500"), "3_500");
  EXPECT_EQ(key_of(std::string(500, 'x')).size(), 200u);
}

}  // namespace
}  // namespace passnet::cluster
