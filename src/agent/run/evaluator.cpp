#include "agent/run/evaluator.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/processors.h"
#include "record/score/score.h"
#include "record/verdict.h"
#include "run/apply/select_passes.h"
#include "run/batch/build_ahead.h"
#include "run/keep/seed.h"

namespace passnet::agent {

namespace {

// What another process's work, or the machine, kept from being measured.
bool is_worth_repeating(const record::RunRecord& one) {
  const record::LeftOut why = record::left_out(one);
  return why == record::LeftOut::Disturbed;
}

/// Sets `ended` once is_due says so, while this lives.
class EndWhenDue {
 public:
  EndWhenDue(std::atomic<bool>& ended, std::function<bool()> is_due) {
    thread_ = std::jthread([&ended, is_due = std::move(is_due)](std::stop_token stop) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any stopped;
      while (!is_due()) {
        if (stopped.wait_for(lock, stop, kEvery, [] { return false; }) || stop.stop_requested()) return;
      }
      ended = true;
    });
  }

 private:
  static constexpr std::chrono::milliseconds kEvery{50};
  std::jthread thread_;
};

/// Clears `ended`, and sets it once a signal comes or the budget is used up. Null: neither can happen.
std::unique_ptr<EndWhenDue> end_when_due(std::atomic<bool>& ended, const std::atomic<bool>* interrupted,
                                         const std::function<bool()>& is_spent) {
  ended = false;
  if (interrupted == nullptr && !is_spent) return nullptr;
  return std::make_unique<EndWhenDue>(
      ended, [=] { return (interrupted != nullptr && *interrupted) || (is_spent && is_spent()); });
}

/// Compiles for the graphs of a task that come after the first one, while that one is evaluated.
class RestBuilt {
 public:
  /// processors: where nothing is timed; none: everything is compiled when it is due. jobs: graphs at a time.
  RestBuilt(run::Slot& slot, const graphdir::Sample& task, const std::vector<int>& processors, int jobs)
      : slot_(slot), task_(task), processors_(processors), jobs_(jobs) {}

  /// This graph is evaluated from now on.
  void leave_out(const std::string& graph) {
    if (task_.graph_names.size() < 2 || processors_.empty()) return;
    if (!building_) begin();
    if (building_) building_->leave_out(task_, graph);
  }

 private:
  void begin() {
    const auto machine = slot_.workers().machine();
    if (!machine) return;  // the evaluation says why
    run::ToBuild rest{&task_, std::vector<size_t>(task_.graph_names.size() - 1), run::sources_of(task_, {})};
    std::iota(rest.graphs.begin(), rest.graphs.end(), size_t{1});
    building_.emplace(std::vector{std::move(rest)}, slot_.options(), jobs_, processors_, machine->architecture);
  }

  run::Slot& slot_;
  const graphdir::Sample& task_;
  const std::vector<int>& processors_;
  const int jobs_;
  std::optional<run::BuildingAhead> building_;
};

Result<Records> evaluate_in(run::Slot& slot, const graphdir::Sample& task, const std::function<bool()>& is_spent,
                            RestBuilt& rest) {
  std::vector<std::optional<record::RunRecord>> made(task.graph_names.size());
  std::vector<bool> settled(made.size());
  const auto place_of = [&](const std::string& graph) {
    return static_cast<size_t>(std::ranges::find(task.graph_names, graph) - task.graph_names.begin());
  };
  for (int round = 0; round < Evaluator::kRounds && std::ranges::find(settled, false) != settled.end(); ++round) {
    PASSNET_TRY(const run::Seed seed, run::draw_seed());
    slot.options().seed = seed.value;
    run::EvaluateHooks hooks;
    hooks.skip = [&](const std::string& graph) { return settled[place_of(graph)]; };
    hooks.started = [&](const std::string& graph) { rest.leave_out(graph); };
    hooks.finished = [&](const record::RunRecord& record) -> Result<void> {
      const size_t place = place_of(record.graph);
      settled[place] = !is_worth_repeating(record);
      made[place] = record;
      made[place]->seed_nonce = seed.nonce;
      return {};
    };
    const Result<void> done = run::evaluate_sample(task, slot.options(), slot.workers(), hooks);
    if (!done && is_spent && is_spent()) break;
    if (!done) return done.error();
  }
  Records records;
  for (std::optional<record::RunRecord>& one : made) {
    if (one) records.push_back(std::move(*one));
  }
  return records;
}

}  // namespace

Evaluator::Evaluator(run::EvaluateOptions options, run::SlotCount count,
                     std::function<void(const std::string&)> waiting)
    : waiting_(run::waiting_of(options, std::move(waiting))),
      options_(std::move(options)),
      count_(count),
      ended_(static_cast<size_t>(count.all())) {
  for (size_t slot = 0; slot < static_cast<size_t>(count_.all()); ++slot)
    threads_.emplace_back([this, slot](std::stop_token stop) { serve(std::move(stop), slot); });
}

Evaluator::~Evaluator() = default;

Result<Evaluated> Evaluator::evaluate(const graphdir::Sample& task, bool profile,
                                      const std::function<bool()>& is_spent) {
  return ask(task, {.profile = profile}, is_spent);
}

Result<Evaluated> Evaluator::check(const graphdir::Sample& task, const std::function<bool()>& is_spent) {
  return ask(task, {.timed = false}, is_spent);
}

Result<Evaluated> Evaluator::evaluate_afresh(const graphdir::Sample& task, const std::function<bool()>& is_spent) {
  return ask(task, {.afresh = true}, is_spent);
}

Result<Evaluated> Evaluator::ask(const graphdir::Sample& task, How how, const std::function<bool()>& is_spent) {
  Request request{task, how, is_spent, {}};
  std::future<Result<Evaluated>> evaluated = request.evaluated.get_future();
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(&request);
  }
  asked_.notify_one();
  return evaluated.get();
}

void Evaluator::serve(std::stop_token stop, size_t slot) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!asked_.wait(lock, stop, [&] { return !requests_.empty(); })) return;
    Request& request = *requests_.front();
    requests_.pop_front();
    Result<void> begun = begin(lock, slot, request);
    lock.unlock();
    Result<Evaluated> evaluated = Evaluated{};
    if (begun)
      evaluated = answer(slot, request);
    else if (!request.is_spent || !request.is_spent())  // else the machine was busy all the time
      evaluated = std::move(begun).error();
    lock.lock();
    if (begun) end();
    lock.unlock();
    request.evaluated.set_value(std::move(evaluated));
  }
}

Result<void> Evaluator::begin(std::unique_lock<std::mutex>& lock, size_t slot, const Request& request) {
  // Another program's turn comes when all slots are done.
  if (busy_ > 0 && lease_.is_wanted()) idle_.wait(lock, [&] { return busy_ == 0; });
  if (busy_ == 0) {
    // Whoever else wants to evaluate waits for the same.
    run::Waiting waiting = waiting_;
    const std::unique_ptr<EndWhenDue> end = end_when_due(ended_[slot], options_.interrupted, request.is_spent);
    if (end) waiting.interrupted = &ended_[slot];
    PASSNET_TRY(lease_, run::take_for_slots(options_, count_, waiting));
    if (!slots_ || lease_.held("processor") != processors_) {
      processors_ = lease_.held("processor");
      slots_.reset();
      std::vector<const std::atomic<bool>*> ended;
      for (const std::atomic<bool>& one : ended_) ended.push_back(&one);
      slots_.emplace(options_, count_, lease_, ended);
    }
  }
  ++busy_;
  return {};
}

void Evaluator::end() {
  if (--busy_ > 0) return;
  lease_ = {};
  idle_.notify_all();
}

Result<Evaluated> Evaluator::answer(size_t index, const Request& request) {
  const auto begin = std::chrono::steady_clock::now();
  const OnProcessors common(slots_->common_processors());
  if (request.how.afresh) slots_->renew(index);
  run::Slot& slot = slots_->at(index);
  slot.options().profile = request.how.profile;
  slot.options().timed = request.how.timed;
  const std::vector<int>& elsewhere = slots_->common_processors();
  const std::unique_ptr<EndWhenDue> end = end_when_due(ended_[index], options_.interrupted, request.is_spent);
  RestBuilt rest(slot, request.task, elsewhere, std::max(1, static_cast<int>(elsewhere.size()) / count_.all()));
  PASSNET_TRY(Records records, evaluate_in(slot, request.task, request.is_spent, rest));
  if (request.how.afresh) slots_->renew(index);
  return Evaluated{std::move(records), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace passnet::agent
