// Many attempts at many tasks, several at a time; then the best of each task, measured once more.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/attempt/attempt.h"
#include "agent/model/model.h"
#include "agent/prompt/example.h"
#include "run/batch/slots.h"

namespace passnet::agent {

/// What a run came to, in its directory: to_json(RunResult).
inline constexpr const char* kResultsFile = "results.json";

struct RunOptions {
  std::vector<graphdir::Sample> samples;  // of names that differ
  int attempts = 1;                       // at each task
  int workers = 1;                        // attempts at a time
  AttemptFacts limits;                    // but for sample and attempt
  ModelOptions model;
  Price price;
  run::EvaluateOptions evaluate;
  run::SlotCount slots;
  std::filesystem::path out;
  std::vector<ExampleText> examples;  // worked ones, in place of the shipped one
  bool resume = false;
};

struct RunHooks {
  std::function<void(const std::string&)> told;  // retries, waiting; one thread at a time
  std::function<void()> began;                   // an attempt, or was found in the directory
  std::function<void(const AttemptFacts&, const Step&)> stepped;
  std::function<void(const AttemptResult&)> finished;
};

struct TaskResult {
  std::string sample;
  std::vector<AttemptResult> attempts;
  std::optional<int> winner;         // the attempt whose passes were measured again; none: nothing beat doing nothing
  std::optional<Outcome> confirmed;  // what the winner came to then
  Ledger spent;                      // by the attempts, and on measuring the winner
  int succeeded() const;
  /// What counts: the winner's score as it was measured again, and never less than leaving the graphs alone.
  double score() const;
};

struct RunResult {
  std::vector<TaskResult> tasks;
  Ledger spent;              // by all attempts, unfinished ones among them, and on measuring the winners
  bool interrupted = false;  // some attempts are not finished; --resume goes on with them
};

/// Errors: BadInput: a directory that holds a run without `resume`; Io; Resource. What is wrong with
/// the model's server ends attempts, not the run.
Result<RunResult> run_agent(const RunOptions& options, const RunHooks& hooks);

/// {"tasks": […], "pass_at_k": {"1": …}, "score", "gains", "usage", "cost", "llm_seconds", …, "interrupted"}
Json to_json(const RunResult& result);
/// The mean over tasks, by k from 1; of finished attempts.
std::vector<double> pass_at_all_k(const RunResult& result);
/// Tasks whose score is above 1.
size_t gains_of(const RunResult& result);
/// The geometric mean of the tasks' scores; 1 for none.
double score_of(const RunResult& result);

}  // namespace passnet::agent
