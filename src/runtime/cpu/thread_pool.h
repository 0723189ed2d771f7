// Threads for the launches of CPU kernels. The caller takes part; helpers spin for a few tens of microseconds
// after a launch, then sleep on a futex. A launch costs about a microsecond when they are awake.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace passnet::runtime {

class ThreadPool {
 public:
  /// threads: how many work at a launch, the caller included; at least 1.
  /// processors: the i-th helper is bound to processors[i + 1] (the first is the caller's); empty: none is bound.
  explicit ThreadPool(int threads, const std::vector<int>& processors = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// No helper sleeps: a launch costs about a microsecond now, not the tens that waking one takes.
  bool awake() const { return sleepers_.load(std::memory_order_relaxed) == 0; }

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Runs body(context, first, last) over disjoint ranges that cover [0, tasks), in any order, on any of the
  /// threads. Returns when all are done; what they wrote is visible to the caller. One caller at a time.
  using Body = void (*)(void* context, int64_t first, int64_t last);
  void run(int64_t tasks, Body body, void* context);

 private:
  struct Job {
    Body body = nullptr;
    void* context = nullptr;
    int64_t tasks = 0;
    int64_t chunk = 1;
  };
  void help();
  void take_chunks();
  bool join();

  static constexpr uint32_t kOpen = 1u << 31;

  Job job_;                                        // written while the gate is closed
  alignas(64) std::atomic<int64_t> next_{0};       // first task nobody has taken
  alignas(64) std::atomic<uint32_t> gate_{0};      // kOpen while helpers may join, plus how many did
  alignas(64) std::atomic<uint32_t> left_{0};      // helpers that joined and are done
  alignas(64) std::atomic<uint32_t> launches_{0};  // futex: changes at every launch
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace passnet::runtime
