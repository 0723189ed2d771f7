#include "runtime/cpu/thread_pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

namespace passnet::runtime {

namespace {

constexpr int64_t kChunksPerThread = 4;  // enough to even out tasks of unequal cost
constexpr auto kSpin = std::chrono::microseconds(30);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Best effort: a processor that is not ours leaves the thread where it is.
void bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futex_wake_all(std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

ThreadPool::ThreadPool(int threads, const std::vector<int>& processors) {
  for (size_t i = 1; i < static_cast<size_t>(threads); ++i) {
    helpers_.emplace_back([this, processor = i < processors.size() ? processors[i] : -1] {
      if (processor >= 0) bind_to(processor);
      help();
    });
  }
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  launches_.fetch_add(1);
  futex_wake_all(launches_);
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadPool::take_chunks() {
  const Job& job = job_;
  while (true) {
    const int64_t first = next_.fetch_add(job.chunk, std::memory_order_relaxed);
    if (first >= job.tasks) return;
    job.body(job.context, first, std::min(first + job.chunk, job.tasks));
  }
}

/// Enters the launch that is open. The gate counts who is inside, so the caller waits for those and for no
/// one else.
bool ThreadPool::join() {
  uint32_t gate = gate_.load(std::memory_order_acquire);
  while (gate & kOpen) {
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
  }
  return false;
}

void ThreadPool::help() {
  uint32_t seen = 0;
  while (true) {
    const auto give_up = std::chrono::steady_clock::now() + kSpin;
    uint32_t now = launches_.load();
    for (int spins = 0; now == seen; now = launches_.load(std::memory_order_acquire)) {
      pause();
      if (++spins % 64 != 0 || std::chrono::steady_clock::now() < give_up) continue;
      sleepers_.fetch_add(1);
      futex_wait(launches_, seen);  // returns at once when a launch came in between
      sleepers_.fetch_sub(1);
    }
    seen = now;
    if (stopping_) return;
    if (!join()) continue;
    take_chunks();
    left_.fetch_add(1, std::memory_order_release);
  }
}

void ThreadPool::run(int64_t tasks, Body body, void* context) {
  if (tasks <= 0) return;
  if (helpers_.empty() || tasks == 1) {
    body(context, 0, tasks);
    return;
  }
  job_ = {body, context, tasks, std::max<int64_t>(1, tasks / (threads() * kChunksPerThread))};
  next_.store(0, std::memory_order_relaxed);
  left_.store(0, std::memory_order_relaxed);
  gate_.store(kOpen, std::memory_order_release);
  launches_.fetch_add(1);
  if (sleepers_.load() > 0) futex_wake_all(launches_);
  take_chunks();
  const uint32_t joined = gate_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while (left_.load(std::memory_order_acquire) != joined) pause();
}

}  // namespace passnet::runtime
