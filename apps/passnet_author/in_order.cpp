#include "in_order.h"

#include <latch>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.h"

namespace passnet::cli {

Result<void> in_order(const std::vector<graphdir::Sample>& samples, int at_a_time,
                      const std::function<Result<Json>(const graphdir::Sample&)>& make,
                      const std::function<void(Json)>& take) {
  std::mutex mutex;
  std::map<size_t, Json> made;
  size_t begun = 0, taken = 0;
  Result<void> done;
  const auto work = [&] {
    while (true) {
      std::unique_lock lock(mutex);
      if (begun == samples.size() || !done || interrupted()) return;
      const size_t index = begun++;
      lock.unlock();
      Result<Json> one = make(samples[index]);
      lock.lock();
      if (!one) {
        if (done) done = std::move(one).error();
        return;
      }
      made.emplace(index, std::move(*one));
      for (auto next = made.find(taken); next != made.end(); next = made.find(++taken)) take(std::move(next->second));
    }
  };
  {
    // A worker is killed with the thread that started it, and all of these ask one about their samples.
    std::latch ended(at_a_time);
    std::vector<std::jthread> threads;
    for (int i = 0; i < at_a_time; ++i) {
      threads.emplace_back([&] {
        work();
        ended.arrive_and_wait();
      });
    }
  }
  return done;
}

}  // namespace passnet::cli
