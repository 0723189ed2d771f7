// A stream worked on by several threads, its results handed on in the order of its items.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace passnet {

/// Results of items that are worked on at once, until they are handed on in the order of the items.
template <class Out>
class OrderedResults {
 public:
  OrderedResults(size_t window, size_t threads) : results_(window), working_(threads) {}

  /// Waits until there is room for the result of this item. False: work ends, since something was thrown.
  bool wait_for_room(size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return index < handed_on_ + results_.size() || thrown_; });
    return !thrown_;
  }

  void put(size_t index, Out&& result) {
    const std::lock_guard lock(mutex_);
    results_[index % results_.size()].emplace(std::move(result));
    changed_.notify_all();
  }

  /// Waits for the next result in order. None: all were taken, or something was thrown.
  std::optional<Out> take() {
    std::unique_lock lock(mutex_);
    std::optional<Out>& slot = results_[handed_on_ % results_.size()];
    changed_.wait(lock, [&] { return slot.has_value() || working_ == 0 || thrown_; });
    if (thrown_ || !slot) return std::nullopt;
    std::optional<Out> result = std::exchange(slot, std::nullopt);
    ++handed_on_;
    changed_.notify_all();
    return result;
  }

  void end_thread() {
    const std::lock_guard lock(mutex_);
    --working_;
    changed_.notify_all();
  }

  /// Keeps what was thrown first.
  void fail(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex_);
    if (!thrown_) thrown_ = std::move(thrown);
    changed_.notify_all();
  }

  /// To be called when all threads have ended.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<Out>> results_;  // of item i at i % size()
  size_t handed_on_ = 0, working_;           // results; threads that have not ended
  std::exception_ptr thrown_;
};

/// sink(work(item)) for each item of `next`, in order; returns when all is done.
/// next:    () -> std::optional<Item>; the end of the stream is nullopt. Called by one thread at a time.
/// work:    (Item) -> Result; called by `threads` threads at once.
/// sink:    (Result); called by the calling thread only.
/// threads: at least 1. At most 16 results per thread wait for an earlier one. All end together: a process that one of
///          them started, and that the kernel kills with it, serves to the end.
/// What any of the three throws is thrown from here, after the threads have ended.
template <class Next, class Work, class Sink>
void map_in_order(Next&& next, Work&& work, Sink&& sink, size_t threads) {
  using Item = typename decltype(next())::value_type;
  threads = std::max<size_t>(threads, 1);
  OrderedResults<decltype(work(std::declval<Item>()))> results(16 * threads, threads);
  std::mutex next_mutex;
  size_t taken = 0;  // items; under next_mutex
  std::latch ended(static_cast<std::ptrdiff_t>(threads));
  const auto worker = [&] {
    try {
      for (;;) {
        std::unique_lock taking(next_mutex);
        std::optional<Item> item = next();
        if (!item) break;
        const size_t index = taken++;
        // Waiting here, the others cannot take more either: they would have to wait as well.
        if (!results.wait_for_room(index)) break;
        taking.unlock();
        results.put(index, work(std::move(*item)));
      }
    } catch (...) {
      results.fail(std::current_exception());
    }
    results.end_thread();
    ended.arrive_and_wait();
  };

  std::vector<std::jthread> pool;
  for (size_t i = 0; i < threads; ++i) pool.emplace_back(worker);
  try {
    while (auto result = results.take()) sink(std::move(*result));
  } catch (...) {
    results.fail(std::current_exception());
  }
  pool.clear();  // joins
  results.rethrow();
}

}  // namespace passnet
