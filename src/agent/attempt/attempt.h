// One attempt at a task: ask, call tools, write down, again; until the model submits or a limit is reached. What counts is
// the best evaluation, by its records.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/attempt/price.h"
#include "agent/model/model.h"
#include "agent/tools/tool.h"
#include "agent/trajectory/steps.h"
#include "graphdir/sample.h"

namespace passnet::agent {

/// Names in an attempt's directory.
inline constexpr const char* kCompletionsFile = "completions.jsonl";    // a line per step
inline constexpr const char* kTrajectoryFile = "trajectory.jsonl";      // one object, upstream's names
inline constexpr const char* kTrajectoriesFile = "trajectories.jsonl";  // those of a run, one a line
inline constexpr const char* kEvaluationsDir = "evaluations";           // NAME/records.jsonl and NAME/pass_dir

/// What an evaluation gives.
struct Evaluated {
  Records records;
  double device_seconds = 0;  // while it had the device or a part in it
};

struct AttemptSetup {
  const graphdir::Sample& sample;
  std::filesystem::path directory;
  AttemptFacts facts;
  Conversation prompt;
  Price price;
  bool allow_library = false;
};

/// What an attempt uses; all of it is called from several threads.
struct AttemptServices {
  Model model;
  /// Errors: Resource: the machine's, or interrupted.
  std::function<Result<Evaluated>(const graphdir::Sample& task, bool profile)> evaluate;
  const std::atomic<bool>* interrupted = nullptr;  // gives up the step in flight, which is made again later
  std::function<void(const AttemptFacts&, const Step&)> stepped;  // after each step that is kept; may be empty
};

struct AttemptResult {
  AttemptFacts facts;
  std::string exit_reason;  // of trajectory.h
  std::string error;        // of the model's server; may be empty
  int steps = 0;
  Ledger spent;
  std::optional<Evaluation> best;  // none: nothing beat doing nothing
  double reward() const { return best ? best->outcome.score : 1; }
  bool succeeded() const { return best && best->outcome.succeeded(); }
};

/// Goes on with what is in the directory. One that has ended is read, not made again.
/// Errors: Io; Resource: another run holds the directory, the machine's, not the model server's; BadInput: what is there was
///         made with another model, prompt or limit.
Result<AttemptResult> run_attempt(const AttemptSetup& setup, const AttemptServices& services);

/// The passes of an evaluation, as its files hold them. Errors: Io.
Result<std::map<std::string, std::string>> files_of(const std::filesystem::path& pass_dir);

}  // namespace passnet::agent
