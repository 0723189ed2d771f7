#include "runtime/tensor/parallel.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace passnet::runtime {
namespace {

TEST(Parallel, DoesEachPartOnce) {
  for (const int64_t parts : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> done(static_cast<size_t>(parts));
    for_each_part(parts, [&](int64_t part) { ++done[static_cast<size_t>(part)]; });
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(Parallel, RangesMakeUpAll) {
  std::vector<std::atomic<int>> done(1001);
  for_each_range(1001, 64, [&](int64_t first, int64_t last) {
    EXPECT_LE(last - first, 64);
    for (int64_t i = first; i < last; ++i) ++done[static_cast<size_t>(i)];
  });
  for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

// at::parallel_for would not, in code that is compiled as ours.
TEST(Parallel, RunsOnSeveralThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for_each_part(2, [&](int64_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  at::set_num_threads(before);
  EXPECT_EQ(threads.size(), 2u);
}

}  // namespace
}  // namespace passnet::runtime
