// Evaluates what attempts wrote, in warm workers that all of them share: as many at a time as there are slots, one of
// which is timed on a device. The machine's locks are held only while something is evaluated.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "agent/attempt/attempt.h"
#include "run/batch/slots.h"
#include "run/evaluate/evaluate.h"

namespace passnet::agent {

class Evaluator {
 public:
  /// options: evaluations end when `interrupted` becomes true. waiting: run::Waiting::told.
  Evaluator(run::EvaluateOptions options, run::SlotCount count, std::function<void(const std::string&)> waiting);
  /// Nobody may be evaluating.
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Every graph once, with a seed of its own; those that other processes disturbed again, up to kRounds times in all.
  /// is_spent: asked all the time by another thread; true: the evaluation ends, without a record of the graphs that are not
  /// done, and the machine is waited for no longer. Called by any thread. Errors: Resource: workers cannot be started,
  /// interrupted; of the machine's locks.
  Result<Evaluated> evaluate(const graphdir::Sample& task, bool profile, const std::function<bool()>& is_spent = {});

  /// The same without times.
  Result<Evaluated> check(const graphdir::Sample& task, const std::function<bool()>& is_spent = {});

  /// The same as evaluate() in processes that have seen nothing else.
  Result<Evaluated> evaluate_afresh(const graphdir::Sample& task, const std::function<bool()>& is_spent = {});

  /// Evaluations that go on at a time.
  int slots() const { return count_.all(); }

  static constexpr int kRounds = 3;

 private:
  struct How {
    bool profile = false, afresh = false, timed = true;
  };
  struct Request {
    const graphdir::Sample& task;
    How how;
    const std::function<bool()>& is_spent;
    std::promise<Result<Evaluated>> evaluated;
  };
  Result<Evaluated> ask(const graphdir::Sample& task, How how, const std::function<bool()>& is_spent);
  /// Runs in the thread of a slot, which starts the workers, as they end with the thread that starts them.
  void serve(std::stop_token stop, size_t slot);
  /// With the lock, which is given up meanwhile.
  Result<void> begin(std::unique_lock<std::mutex>& lock, size_t slot, const Request& request);
  void end();
  Result<Evaluated> answer(size_t slot, const Request& request);

  const run::Waiting waiting_;
  const run::EvaluateOptions options_;
  const run::SlotCount count_;

  std::mutex mutex_;
  std::condition_variable_any asked_;
  std::condition_variable idle_;
  std::deque<Request*> requests_;
  std::deque<std::atomic<bool>> ended_;  // by slot: its evaluation shall end
  int busy_ = 0;                         // slots
  run::MachineLease lease_;              // while one is busy
  std::vector<int> processors_;          // that `slots_` are made for
  std::optional<run::Slots> slots_;
  std::vector<std::jthread> threads_;
};

}  // namespace passnet::agent
