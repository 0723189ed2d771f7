// A stream worked on by several threads, its results handed on in the order of its items.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace passnet {

/// sink(work(item)) for each item of `next`, in order; returns when all is done.
/// next:    () -> std::optional<Item>; the end of the stream is nullopt. Called by one thread at a time.
/// work:    (Item) -> Result; called by `threads` threads at once.
/// sink:    (Result); called by the calling thread only.
/// threads: at least 1. At most 16 results per thread wait for an earlier one.
/// What any of the three throws is thrown from here, after the threads have ended.
template <class Next, class Work, class Sink>
void map_in_order(Next&& next, Work&& work, Sink&& sink, size_t threads) {
  using Item = typename decltype(next())::value_type;
  using Out = decltype(work(std::declval<Item>()));
  const size_t window = 16 * std::max<size_t>(threads, 1);
  struct Shared {
    std::mutex next_mutex, mutex;
    std::condition_variable changed;
    std::vector<std::optional<Out>> results;  // of item i at i % window
    size_t taken = 0;                         // items; under next_mutex
    size_t handed_on = 0, working = 0;        // results; threads that have not ended
    std::exception_ptr thrown;
  } shared;
  shared.results.resize(window);
  shared.working = std::max<size_t>(threads, 1);

  const auto worker = [&] {
    try {
      for (;;) {
        std::unique_lock taking(shared.next_mutex);
        std::optional<Item> item = next();
        if (!item) break;
        const size_t index = shared.taken++;
        {
          // Waiting here, the others cannot take more either: they would have to wait as well.
          std::unique_lock lock(shared.mutex);
          shared.changed.wait(lock, [&] { return index < shared.handed_on + window || shared.thrown; });
          if (shared.thrown) break;
        }
        taking.unlock();
        Out result = work(std::move(*item));
        const std::lock_guard lock(shared.mutex);
        shared.results[index % window].emplace(std::move(result));
        shared.changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(shared.mutex);
      if (!shared.thrown) shared.thrown = std::current_exception();
    }
    const std::lock_guard lock(shared.mutex);
    --shared.working;
    shared.changed.notify_all();
  };

  std::vector<std::jthread> pool;
  for (size_t i = 0, count = shared.working; i < count; ++i) pool.emplace_back(worker);
  for (;;) {
    std::unique_lock lock(shared.mutex);
    std::optional<Out>& slot = shared.results[shared.handed_on % window];
    shared.changed.wait(lock, [&] { return slot.has_value() || shared.working == 0 || shared.thrown; });
    if (shared.thrown || !slot) break;
    Out result = std::move(*slot);
    slot.reset();
    ++shared.handed_on;
    shared.changed.notify_all();
    lock.unlock();
    try {
      sink(std::move(result));
    } catch (...) {
      const std::lock_guard again(shared.mutex);
      shared.thrown = std::current_exception();
      shared.changed.notify_all();
    }
  }
  pool.clear();  // joins
  if (shared.thrown) std::rethrow_exception(shared.thrown);
}

}  // namespace passnet
