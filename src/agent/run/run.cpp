#include "agent/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "agent/prompt/prompt.h"
#include "agent/run/evaluator.h"
#include "agent/run/pass_at_k.h"
#include "agent/trajectory/json.h"
#include "agent/trajectory/trajectory.h"
#include "base/file/file.h"
#include "base/file/leftovers.h"
#include "base/file/paths.h"
#include "base/json/json_fields.h"
#include "run/batch/job.h"

namespace passnet::agent {

namespace {

// Of the winner's second measurement: its records, and which passes they are of.
constexpr const char* kRecordsFile = "records.jsonl";
constexpr const char* kMeasuredFile = "measured.json";

struct Task {
  graphdir::Sample sample;
  Conversation prompt;
};

/// One attempt that is to be made.
struct Planned {
  size_t task = 0;
  int attempt = 0;
};

Result<std::vector<Task>> load_tasks(const RunOptions& options) {
  std::vector<Task> tasks;
  for (const graphdir::Sample& sample : options.samples) {
    PASSNET_TRY(Conversation prompt,
                make_prompt(sample, {options.evaluate.gpu.has_value(), options.limits.max_steps, options.examples}));
    tasks.push_back({sample, std::move(prompt)});
  }
  return tasks;
}

fs::path directory_of(const RunOptions& options, const std::string& sample, int attempt) {
  return options.out / sample / fmt::format("attempt_{}", attempt);
}

// The first attempts at all tasks, then the second ones: an interrupted run says something of each.
std::vector<Planned> plan(const std::vector<Task>& tasks, int attempts) {
  std::vector<Planned> planned;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    for (size_t task = 0; task < tasks.size(); ++task) planned.push_back({task, attempt});
  }
  return planned;
}

Result<void> open_directory(const RunOptions& options) {
  if (Result<void> empty = require_empty(options.out); !empty && !options.resume)
    return std::move(empty).error().with_hint("--resume goes on with the run in it");
  PASSNET_TRY_VOID(make_directories(options.out));
  remove_leftovers(options.out);
  return {};
}

// Of the finished ones, in the order of the list.
Result<void> collect_trajectories(const RunOptions& options, const std::vector<Task>& tasks) {
  std::string all;
  for (const Task& task : tasks) {
    for (int attempt = 0; attempt < options.attempts; ++attempt) {
      Result<std::string> one =
          read_beneath(directory_of(options, task.sample.name, attempt), kTrajectoryFile, FileKind::Lines);
      if (one) all += *one;
    }
  }
  return write_file(options.out / kTrajectoriesFile, std::string_view(all));
}

// The seconds that the winner's second measurement took, where an earlier run made it and the same passes still win.
std::optional<double> measured_before(const fs::path& place, const std::string& pass_hash) {
  const Result<std::string> text = read_beneath(place, kMeasuredFile, FileKind::Facts);
  const Json of = text ? try_parse_json(*text) : Json();
  if (!of.is_object() || of.value("pass_hash", Json()) != pass_hash) return std::nullopt;
  return read_number(of.value("device_seconds", Json()));
}

// The best attempt's passes in fresh processes: what was found by trying often is luck until it is found again.
Result<void> confirm(const RunOptions& options, const Task& task, Evaluator& evaluator, TaskResult& result) {
  const AttemptResult* best = nullptr;
  for (const AttemptResult& one : result.attempts) {
    if (one.best && (best == nullptr || one.reward() > best->reward())) best = &one;
  }
  if (best == nullptr) return {};
  result.winner = best->facts.attempt;
  const fs::path place = options.out / task.sample.name / "winner";
  const fs::path passes =
      directory_of(options, task.sample.name, best->facts.attempt) / kEvaluationsDir / best->best->name / kPassDir;
  PASSNET_TRY(const auto files, files_of(passes));
  if (const std::optional<double> device_seconds = measured_before(place, best->best->pass_hash)) {
    PASSNET_TRY(const Records records, record::load_records((place / kRecordsFile).string()));
    result.confirmed = outcome_of(records);
    result.spent.device_seconds += *device_seconds;
    return {};
  }
  std::error_code failed;
  fs::remove_all(place, failed);
  for (const auto& [name, text] : files) PASSNET_TRY_VOID(write_file(place / kPassDir / name, text));
  graphdir::Sample sample = task.sample;
  sample.path = place;
  sample.pass_dir = place / kPassDir;
  sample.roots.push_back(place);
  PASSNET_TRY(const Evaluated measured, evaluator.evaluate_afresh(sample));
  PASSNET_TRY_VOID(write_file(place / kRecordsFile, record::to_lines(measured.records)));
  const Json of{{"pass_hash", best->best->pass_hash}, {"device_seconds", measured.device_seconds}};
  PASSNET_TRY_VOID(write_file(place / kMeasuredFile, dump(of, 1) + "\n"));
  result.confirmed = outcome_of(measured.records);
  result.spent.device_seconds += measured.device_seconds;
  return {};
}

AttemptSetup setup_of(const RunOptions& options, const Task& task, int attempt) {
  AttemptSetup setup{task.sample,    directory_of(options, task.sample.name, attempt),
                     options.limits, task.prompt,
                     options.price,  options.evaluate.allow_library};
  setup.facts.sample = task.sample.name;
  setup.facts.attempt = attempt;
  setup.facts.prompt_hash = prompt_hash(options.examples);
  return setup;
}

// With what it took.
Json with_ledger(Json json, const Ledger& spent) {
  json.update(to_json_object(spent));
  return json;
}

Json to_json(const AttemptResult& one) {
  return with_ledger({{"attempt", one.facts.attempt},
                      {"exit_reason", one.exit_reason},
                      {"error", valid_utf8(one.error)},
                      {"steps", one.steps},
                      {"reward", number_json(one.reward())},
                      {"succeeded", one.succeeded()},
                      {"best", one.best ? to_json_object(one.best->outcome) : Json()}},
                     one.spent);
}

}  // namespace

int TaskResult::succeeded() const {
  return static_cast<int>(std::ranges::count_if(attempts, [](const AttemptResult& one) { return one.succeeded(); }));
}

double TaskResult::score() const { return confirmed && confirmed->measured() ? std::max(1.0, confirmed->score) : 1; }

std::vector<double> pass_at_all_k(const RunResult& result) {
  int most = 0;
  for (const TaskResult& task : result.tasks) most = std::max(most, static_cast<int>(task.attempts.size()));
  std::vector<double> all;
  for (int k = 1; k <= most; ++k) {
    double sum = 0;
    int tasks = 0;
    for (const TaskResult& task : result.tasks) {
      const int n = static_cast<int>(task.attempts.size());
      if (n < k) continue;
      sum += pass_at_k(n, task.succeeded(), k);
      ++tasks;
    }
    all.push_back(sum / tasks);
  }
  return all;
}

double score_of(const RunResult& result) {
  double sum = 0;
  for (const TaskResult& task : result.tasks) sum += std::log(task.score());
  return result.tasks.empty() ? 1 : std::exp(sum / static_cast<double>(result.tasks.size()));
}

size_t gains_of(const RunResult& result) {
  return static_cast<size_t>(
      std::ranges::count_if(result.tasks, [](const TaskResult& one) { return one.score() > 1; }));
}

Json to_json(const RunResult& result) {
  Json tasks = Json::array(), pass = Json::object();
  for (const TaskResult& task : result.tasks) {
    Json attempts = Json::array();
    for (const AttemptResult& one : task.attempts) attempts.push_back(to_json(one));
    tasks.push_back(with_ledger({{"sample", valid_utf8(task.sample)},
                                 {"score", number_json(task.score())},
                                 {"succeeded", task.succeeded()},
                                 {"winner", task.winner ? Json(*task.winner) : Json()},
                                 {"confirmed", task.confirmed ? to_json_object(*task.confirmed) : Json()},
                                 {"attempts", std::move(attempts)}},
                                task.spent));
  }
  const std::vector<double> all = pass_at_all_k(result);
  for (size_t k = 0; k < all.size(); ++k) pass[std::to_string(k + 1)] = all[k];
  return with_ledger({{"score", number_json(score_of(result))},
                      {"pass_at_k", std::move(pass)},
                      {"gains", gains_of(result)},
                      {"interrupted", result.interrupted},
                      {"tasks", std::move(tasks)}},
                     result.spent);
}

Result<RunResult> run_agent(const RunOptions& options, const RunHooks& asked) {
  PASSNET_TRY_VOID(open_directory(options));
  PASSNET_TRY(const std::vector<Task> tasks, load_tasks(options));
  std::mutex mutex;  // of the hooks
  RunHooks hooks;
  hooks.told = [&](const std::string& what) {
    const std::lock_guard lock(mutex);
    if (asked.told) asked.told(what);
  };
  hooks.began = [&] {
    const std::lock_guard lock(mutex);
    if (asked.began) asked.began();
  };
  hooks.stepped = [&](const AttemptFacts& facts, const Step& step) {
    const std::lock_guard lock(mutex);
    if (asked.stepped) asked.stepped(facts, step);
  };
  Evaluator evaluator(options.evaluate, options.slots, hooks.told);
  const AttemptServices services{
      connect(options.model, options.evaluate.interrupted, hooks.told),
      [&](const graphdir::Sample& task, bool profile) { return evaluator.evaluate(task, profile); },
      options.evaluate.interrupted, hooks.stepped};
  RunResult result;
  for (const Task& task : tasks) result.tasks.push_back({task.sample.name, {}, {}, {}, {}});
  std::vector<Planned> planned = plan(tasks, options.attempts);
  const Result<void> done = run::for_each_item(
      std::span(planned), {options.workers, options.evaluate.interrupted},
      [&](Planned& one, size_t) -> Result<std::pair<size_t, AttemptResult>> {
        hooks.began();
        PASSNET_TRY(AttemptResult attempt, run_attempt(setup_of(options, tasks[one.task], one.attempt), services));
        const std::lock_guard lock(mutex);
        if (asked.finished) asked.finished(attempt);
        return std::pair(one.task, std::move(attempt));
      },
      [&](std::pair<size_t, AttemptResult> made) -> Result<void> {
        result.tasks[made.first].spent += made.second.spent;
        if (made.second.exit_reason == exit_reason::kInterrupted)
          result.interrupted = true;
        else
          result.tasks[made.first].attempts.push_back(std::move(made.second));
        return {};
      });
  const bool interrupted = options.evaluate.interrupted != nullptr && *options.evaluate.interrupted;
  if (!done && !interrupted) return done.error();
  result.interrupted = result.interrupted || interrupted;
  PASSNET_TRY_VOID(collect_trajectories(options, tasks));
  for (size_t i = 0; i < tasks.size() && !result.interrupted; ++i)
    PASSNET_TRY_VOID(confirm(options, tasks[i], evaluator, result.tasks[i]));
  for (const TaskResult& task : result.tasks) result.spent += task.spent;
  PASSNET_TRY_VOID(write_file(options.out / kResultsFile, dump(to_json(result), 1) + "\n"));
  return result;
}

}  // namespace passnet::agent
