#include "runtime/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

namespace passnet::runtime {
namespace {

struct Counts {
  std::vector<std::atomic<int>> times;
  explicit Counts(int64_t tasks) : times(static_cast<size_t>(tasks)) {}
  static void body(void* context, int64_t first, int64_t last) {
    auto& self = *static_cast<Counts*>(context);
    for (int64_t i = first; i < last; ++i) ++self.times[static_cast<size_t>(i)];
  }
};

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t tasks : {0, 1, 2, 7, 64, 1000}) {
      Counts counts(tasks);
      pool.run(tasks, Counts::body, &counts);
      for (const auto& times : counts.times) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ThreadPool, ManyLaunchesInARowLoseNothing) {
  ThreadPool pool(3);
  Counts counts(5);
  constexpr int kLaunches = 20000;
  for (int i = 0; i < kLaunches; ++i) pool.run(5, Counts::body, &counts);
  for (const auto& times : counts.times) EXPECT_EQ(times, kLaunches);
}

TEST(ThreadPool, WakesHelpersThatSleep) {
  ThreadPool pool(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // far longer than helpers spin
    Counts counts(100);
    pool.run(100, Counts::body, &counts);
    for (const auto& times : counts.times) EXPECT_EQ(times, 1);
  }
}

TEST(ThreadPool, UsesItsThreads) {
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    static void body(void* context, int64_t, int64_t) {
      auto& self = *static_cast<Seen*>(context);
      {
        const std::lock_guard guard(self.mutex);
        self.threads.insert(std::this_thread::get_id());
      }
      // Longer than a busy machine takes to give the other thread its turn.
      const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (self.count() < 2 && std::chrono::steady_clock::now() < enough)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    size_t count() {
      const std::lock_guard guard(mutex);
      return threads.size();
    }
  } seen;
  ThreadPool pool(2);
  pool.run(40, Seen::body, &seen);
  EXPECT_EQ(seen.threads.size(), 2u);
  EXPECT_TRUE(seen.threads.contains(std::this_thread::get_id()));
}

TEST(ThreadPool, WritesAreVisibleToTheCaller) {
  struct Squares {
    std::vector<int64_t> values = std::vector<int64_t>(4096);
    static void body(void* context, int64_t first, int64_t last) {
      auto& self = *static_cast<Squares*>(context);
      for (int64_t i = first; i < last; ++i) self.values[static_cast<size_t>(i)] += i;
    }
  } squares;
  ThreadPool pool(4);
  for (int i = 0; i < 100; ++i) pool.run(4096, Squares::body, &squares);
  EXPECT_EQ(std::accumulate(squares.values.begin(), squares.values.end(), int64_t{0}), 100 * 4095 * 4096 / 2);
}

}  // namespace
}  // namespace passnet::runtime
