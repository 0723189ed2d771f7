// Jobs that are interrupted, gone on with, short of disk, or lose a worker: what is done again, and what the journal
// has.
#include "run/batch/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <set>

#include "base/file/file.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {

struct Task {
  std::string name, rules = "1";
};
struct TaskLine {
  std::string name, rules;
  int result = 0;
};

}  // namespace passnet::run

namespace passnet {

template <>
struct JsonFields<run::TaskLine> {
  static constexpr std::string_view kName = "task";
  static void visit(auto& field, auto& line) {
    field("name", line.name);
    field("rules", line.rules);
    field("result", line.result);
  }
};

}  // namespace passnet

namespace passnet::run {

Json to_json(const TaskLine& line) { return to_json_object(line); }

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string>;

class Job : public testing::Test {
 protected:
  // One run of the job; `did` is what it did and `told` what it told of, both in order.
  Result<void> run(const std::vector<Task>& tasks) {
    did.clear(), told.clear();
    PASSNET_TRY(LineFile journal, LineFile::open(journal_, true));
    const auto earlier = last_lines<TaskLine>(journal.kept(), &TaskLine::name);
    JobSteps<Task, TaskLine, TaskLine> steps;
    steps.find = [&](const Task& task) {
      const TaskLine* line = find_line(earlier, task.name);
      return line != nullptr && line->rules == task.rules ? line : nullptr;
    };
    steps.work = [&](const Task& task, size_t slot) -> Result<TaskLine> {
      const std::lock_guard lock(mutex_);
      did.push_back(task.name);
      slots[std::this_thread::get_id()].insert(slot);
      if (during) PASSNET_TRY_VOID(during(task));
      return TaskLine{task.name, task.rules, ++count};
    };
    steps.keep = [&](TaskLine& line) { return interrupted ? nullptr : &line; };
    steps.finished = [&](const TaskLine& line) { told.push_back(line.name); };
    if (enough > 0) steps.enough = [&] { return told.size() >= enough; };
    return run_job(std::span(tasks), journal, {jobs, &interrupted}, steps);
  }

  std::string journal() const { return read_file(journal_, FileKind::Lines).value(); }

  const ScratchDirectory scratch_;
  const fs::path journal_ = scratch_.path / "job.jsonl";
  int jobs = 1, count = 0;
  size_t enough = 0;
  std::atomic<bool> interrupted = false;
  std::function<Result<void>(const Task&)> during;
  Names did, told;
  std::map<std::thread::id, std::set<size_t>> slots;

 private:
  std::mutex mutex_;
};

TEST_F(Job, GoesOnAfterAnInterruptWithoutWhatWasCutShort) {
  during = [&](const Task& task) -> Result<void> {
    interrupted = task.name == "b";
    return {};
  };
  const Result<void> first = run({{"a"}, {"b"}, {"c"}});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message, "interrupted");
  EXPECT_THAT(did, ElementsAre("a", "b"));
  interrupted = false;
  during = {};
  ASSERT_TRUE(run({{"a"}, {"b"}, {"c"}}));
  EXPECT_THAT(did, testing::Contains("b"));
  EXPECT_THAT(did, testing::Contains("c"));
  EXPECT_THAT(told, ElementsAre("a", "b", "c"));
  ASSERT_TRUE(run({{"a"}, {"b"}, {"c"}}));
  EXPECT_THAT(did, IsEmpty());
}

TEST_F(Job, DoesAnItemAgainWhoseLineWasCutInHalfOrIsNone) {
  ASSERT_TRUE(run({{"a"}, {"b"}}));
  const std::string whole = journal();
  ASSERT_TRUE(write_file(journal_, "{\"name\": 3}\nnot JSON\n" + whole.substr(0, whole.size() - 5)));
  ASSERT_TRUE(run({{"a"}, {"b"}}));
  EXPECT_THAT(did, ElementsAre("b"));
  EXPECT_THAT(journal(), testing::EndsWith("\n{\"name\":\"b\",\"rules\":\"1\",\"result\":3}\n"));
}

TEST_F(Job, DoesAnItemAgainWhoseRulesHaveChangedAndItsLastLineCounts) {
  ASSERT_TRUE(run({{"a", "1"}, {"b", "1"}}));
  ASSERT_TRUE(run({{"a", "2"}, {"b", "1"}}));
  EXPECT_THAT(did, ElementsAre("a"));
  EXPECT_THAT(told, ElementsAre("a", "b"));
  ASSERT_TRUE(run({{"a", "1"}}));
  EXPECT_THAT(did, ElementsAre("a"));
}

TEST_F(Job, DoesTwoItemsOfOneNameAndKeepsTheLastLine) {
  ASSERT_TRUE(run({{"a"}, {"a"}}));
  EXPECT_THAT(did, ElementsAre("a", "a"));
  ASSERT_TRUE(run({{"a"}, {"a"}}));
  EXPECT_THAT(did, IsEmpty());
  EXPECT_THAT(told, ElementsAre("a", "a"));
  const auto lines = last_lines<TaskLine>(journal(), &TaskLine::name);
  EXPECT_EQ(lines.at("a").result, 2);
}

TEST_F(Job, TellsInOrderWithMoreThreadsThanItemsAndEachThreadHasOneSlot) {
  jobs = 8;
  ASSERT_TRUE(run({{"a"}, {"b"}, {"c"}}));
  EXPECT_EQ(did.size(), 3u);
  EXPECT_THAT(told, ElementsAre("a", "b", "c"));
  std::vector<Task> many;
  for (int i = 0; i < 60; ++i) many.push_back({std::to_string(i)});
  slots.clear();
  ASSERT_TRUE(run(many));
  std::set<size_t> used;
  for (const auto& [thread, of_thread] : slots) {
    EXPECT_EQ(of_thread.size(), 1u);
    EXPECT_TRUE(used.insert(*of_thread.begin()).second);
    EXPECT_LT(*of_thread.begin(), 8u);
  }
}

TEST_F(Job, EndsWithTheErrorOfAnItemAndKeepsWhatIsDone) {
  during = [](const Task& task) -> Result<void> {
    if (task.name == "b") return resource_error("no worker");
    return {};
  };
  const Result<void> done = run({{"a"}, {"b"}, {"c"}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "no worker");
  EXPECT_THAT(did, ElementsAre("a", "b"));
  EXPECT_EQ(journal(), "{\"name\":\"a\",\"rules\":\"1\",\"result\":1}\n");
}

TEST_F(Job, EndsWhenNothingMoreIsWanted) {
  enough = 2;
  std::vector<Task> many;
  for (int i = 0; i < 60; ++i) many.push_back({std::to_string(i)});
  ASSERT_TRUE(run(many));
  EXPECT_LT(did.size(), 60u);
  EXPECT_GE(told.size(), 2u);
}

TEST_F(Job, EndsOnAFullDiskWithWholeLines) {
  ASSERT_TRUE(run({{"a"}}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{fs::file_size(journal_) + 10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Result<void> full = run({{"a"}, {"b"}});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().kind, Error::Kind::Io);
  EXPECT_THAT(told, ElementsAre("a"));
  EXPECT_EQ(journal(), "{\"name\":\"a\",\"rules\":\"1\",\"result\":1}\n");
  ASSERT_TRUE(run({{"a"}, {"b"}}));
  EXPECT_THAT(did, ElementsAre("b"));
}

TEST_F(Job, IsRefusedWhileAnotherRunHasTheJournal) {
  const Result<LineFile> held = LineFile::open(journal_, true);
  ASSERT_TRUE(held);
  const Result<void> second = run({{"a"}});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, testing::HasSubstr("is being written by another run"));
}

TEST(SlotWorkers, StartAnewAfterTheirWorkerWasLost) {
  SlotWorkers workers({1, nullptr}, {tests::binary_dir() / "tests/run/workers" / "fake_crashes"});
  std::set<pid_t> processes;
  for (int i = 0; i < 2; ++i) {
    const Result<void> used = workers.with(0, [&](Worker& worker) -> Result<void> {
      processes.insert(worker.pid());
      PASSNET_TRY_VOID(worker.ask({{"do", "hello"}}, {}, std::chrono::seconds(5)));
      return {};
    });
    ASSERT_FALSE(used);
    EXPECT_EQ(used.error().failure, "crash");
    EXPECT_TRUE(used.error().worker_lost);
  }
  EXPECT_EQ(processes.size(), 2u);
}

TEST(SlotWorkers, SayThatThereIsNoWorkerToStart) {
  SlotWorkers workers({2, nullptr}, {"/nonexistent/passnet-worker"});
  EXPECT_FALSE(workers.with(1, [](Worker&) { return Result<void>(); }));
}

}  // namespace
}  // namespace passnet::run
