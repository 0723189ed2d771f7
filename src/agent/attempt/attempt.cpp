#include "agent/attempt/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>

#include "agent/attempt/context.h"
#include "agent/trajectory/trajectory.h"
#include "base/file/file.h"
#include "base/file/line_file.h"
#include "base/hash.h"
#include "pass/source.h"

namespace passnet::agent {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr int kSilentAnswers = 3;  // in a row without a call: the model does not know what to do
constexpr size_t kCallsOfAnswer = 16;

std::string hash_of(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [name, text] : files) all += fmt::format("{} {}\n", name, sha256_hex(text));
  return sha256_hex(all);
}

class Attempt {
 public:
  Attempt(const AttemptSetup& setup, const AttemptServices& services, LineFile completions, std::vector<Step> steps,
          EditHistory edits)
      : setup_(setup),
        services_(services),
        workspace_(setup.directory / "workspace"),
        task_(task_of(setup.sample, workspace_)),
        tools_(pass_tools()),
        completions_(std::move(completions)),
        steps_(std::move(steps)),
        edits_(std::move(edits)) {}

  // Straight on until there is a reason to end.
  Result<AttemptResult> run() {
    std::string reason;
    while (reason.empty()) {
      reason = reason_to_end();
      if (!reason.empty()) break;
      PASSNET_TRY(reason, make_step());
    }
    if (reason != exit_reason::kInterrupted) {
      const Result<void> evaluated = evaluate_what_stands();
      if (!evaluated && !is_interrupted()) return evaluated.error();
      if (!evaluated) reason = exit_reason::kInterrupted;
    }
    return finish(reason);
  }

 private:
  const AttemptFacts& facts() const { return setup_.facts; }
  bool is_interrupted() const { return services_.interrupted != nullptr && *services_.interrupted; }

  std::string reason_to_end() const {
    const Ledger spent = spent_in(steps_);
    int silent = 0;
    for (const Step& step : steps_) {
      if (step.number > 0 && !step.messages.empty()) silent = step.messages.front().calls.empty() ? silent + 1 : 0;
    }
    if (steps_.back().done) return exit_reason::kAgent;
    if (silent >= kSilentAnswers) return exit_reason::kNoCalls;
    if (steps_.back().number >= facts().max_steps) return exit_reason::kMaxSteps;
    if (facts().cost_limit > 0 && spent.cost >= facts().cost_limit) return exit_reason::kCost;
    if (facts().time_limit_s > 0 && spent.seconds() >= facts().time_limit_s) return exit_reason::kTime;
    if (is_interrupted()) return exit_reason::kInterrupted;
    return "";
  }

  // Returns: why the attempt ends, "" where it goes on.
  Result<std::string> make_step() {
    const std::optional<Conversation> conversation = fit_context(conversation_of(steps_), facts().token_limit);
    if (!conversation) return std::string(exit_reason::kTokens);
    Step step;
    step.number = steps_.back().number + 1;
    const Clock::time_point asked = Clock::now();
    Result<Answer> answer = services_.model(*conversation, specs_of(tools_));
    step.spent.llm_seconds = seconds_since(asked);
    if (!answer) return reason_of(answer.error());
    step.spent.usage = answer->usage;
    step.spent.cost = cost_of(answer->usage, setup_.price);
    step.messages.push_back(std::move(answer->message));
    const Clock::time_point answered = Clock::now();
    const Result<void> called = answer_calls(step);
    step.spent.tool_seconds = seconds_since(answered);
    if (!called) {
      // Interrupted in the middle of it: the step is made again.
      if (is_interrupted()) return std::string(exit_reason::kInterrupted);
      return called.error();
    }
    PASSNET_TRY_VOID(keep(std::move(step)));
    return std::string();
  }

  std::string reason_of(const Error& error) {
    if (is_interrupted()) return exit_reason::kInterrupted;
    error_ = to_string(error);
    return error.failure == "context" ? exit_reason::kTokens : exit_reason::kModel;
  }

  Result<void> answer_calls(Step& step) {
    const std::vector<ToolCall> calls = step.messages.front().calls;
    if (calls.empty()) {
      step.messages.push_back({Role::User, "Your answer called no tool. Call one, or submit to end the attempt."});
      return {};
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      ToolResult result{
          fmt::format("not called: expected at most {} calls in an answer, found {}", kCallsOfAnswer, calls.size()),
          true};
      if (step.done) {
        result.text = "not called: the attempt was submitted before";
      } else if (i < kCallsOfAnswer) {
        PASSNET_TRY(result, call(calls[i], step));
      }
      Message message{Role::Tool, clean_text(result.text)};
      message.call_id = calls[i].id;
      message.tool = calls[i].name;
      message.is_error = result.is_error;
      step.messages.push_back(std::move(message));
      step.done = step.done || result.submitted;
    }
    return {};
  }

  Result<ToolResult> call(const ToolCall& call, Step& step) {
    ToolContext context{workspace_, edits_, task_, [&](bool profile) { return evaluate(step, profile); }, step.number};
    context.allow_library = setup_.allow_library;
    context.ends.interrupted = services_.interrupted;
    return call_tool(tools_, call, context);
  }

  // Evaluates what stands in the workspace; records and passes are kept beside each other, whole, before they count.
  Result<Records> evaluate(Step& step, bool profile) {
    PASSNET_TRY(const auto files, files_of(workspace_.pass_dir()));
    PASSNET_TRY(Evaluated evaluated, services_.evaluate(task_, profile));
    const Records& records = evaluated.records;
    step.spent.device_seconds += evaluated.device_seconds;
    size_t number = step.evaluations.size() + 1;
    for (const Step& one : steps_) number += one.number == step.number ? one.evaluations.size() : 0;
    Evaluation made{fmt::format("step_{}_{}", step.number, number), hash_of(files), outcome_of(records)};
    const fs::path place = setup_.directory / kEvaluationsDir / made.name;
    std::error_code failed;
    fs::remove_all(place, failed);
    for (const auto& [name, text] : files) PASSNET_TRY_VOID(write_file(place / kPassDir / name, text));
    PASSNET_TRY_VOID(write_file(place / "records.jsonl", record::to_lines(records)));
    PASSNET_TRY_VOID(write_file(place / "feedback.json", dump(feedback_facts(records), 1) + "\n"));
    step.evaluations.push_back(std::move(made));
    return std::move(evaluated.records);
  }

  // What was changed after the last evaluation may be the best.
  Result<void> evaluate_what_stands() {
    PASSNET_TRY(const auto files, files_of(workspace_.pass_dir()));
    if (!files.contains(std::string(pass::kListFile))) return {};  // without it there is no pass
    const std::string hash = hash_of(files);
    for (const Step& step : steps_) {
      for (const Evaluation& one : step.evaluations) {
        if (one.pass_hash == hash && one.outcome.unmeasured == 0) return {};
      }
    }
    Step last;
    last.number = steps_.back().number;
    last.done = steps_.back().done;
    const Clock::time_point begin = Clock::now();
    if (const Result<Records> records = evaluate(last, false); !records) return records.error();
    last.spent.tool_seconds = seconds_since(begin);
    return keep(std::move(last));
  }

  Result<void> keep(Step step) {
    PASSNET_TRY_VOID(completions_.append(completion_line(step, nullptr)));
    steps_.push_back(std::move(step));
    if (services_.stepped) services_.stepped(facts(), steps_.back());
    return write_trajectory("");
  }

  // The passes of the best evaluation; none where nothing beat doing nothing.
  Result<std::string> output_patch() const {
    const Evaluation* const best = best_of(steps_);
    if (best == nullptr) return std::string();
    PASSNET_TRY(const auto files, files_of(setup_.directory / kEvaluationsDir / best->name / kPassDir));
    std::map<std::string, std::string> named;
    for (const auto& [name, text] : files) named[std::string(kPassDir) + "/" + name] = text;
    return patch_of(named);
  }

  Result<void> write_trajectory(const std::string& reason) const {
    PASSNET_TRY(const std::string patch, output_patch());
    const Evaluation* const best = best_of(steps_);
    const Json json =
        trajectory_json(facts(), steps_, reason, best != nullptr ? best->outcome.score : 1, patch, error_);
    return write_file(setup_.directory / kTrajectoryFile, compact(json) + "\n");
  }

  Result<AttemptResult> finish(const std::string& reason) {
    PASSNET_TRY_VOID(write_trajectory(reason));
    AttemptResult result;
    result.facts = facts();
    result.exit_reason = reason;
    result.error = error_;
    result.spent = spent_in(steps_);
    result.steps = steps_.back().number;
    if (const Evaluation* best = best_of(steps_)) result.best = *best;
    return result;
  }

  const AttemptSetup& setup_;
  const AttemptServices& services_;
  const Workspace workspace_;
  const graphdir::Sample task_;
  const std::vector<Tool> tools_;
  LineFile completions_;
  std::vector<Step> steps_;
  EditHistory edits_;
  std::string error_;
};

Result<void> check_same(const AttemptFacts& then, const AttemptFacts& now, const fs::path& directory) {
  AttemptFacts comparable = then;
  // Limits may be widened: what was done stays what it was.
  comparable.max_steps = now.max_steps;
  comparable.time_limit_s = now.time_limit_s;
  comparable.cost_limit = now.cost_limit;
  comparable.token_limit = now.token_limit;
  if (comparable == now) return {};
  return bad_input(fmt::format("'{}' was begun with model '{}' ({}, temperature {:g}, prompt {}), now it is '{}' ({}, "
                               "temperature {:g}, prompt {})",
                               directory.string(), then.model, then.tools, then.temperature,
                               then.prompt_hash.substr(0, 8), now.model, now.tools, now.temperature,
                               now.prompt_hash.substr(0, 8)))
      .with_hint("give another --out, or the options that it was begun with");
}

}  // namespace

Result<std::map<std::string, std::string>> files_of(const fs::path& pass_dir) {
  std::map<std::string, std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(pass_dir, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code unknown;
    if (at->symlink_status(unknown).type() != fs::file_type::regular) continue;
    const fs::path file = at->path().lexically_relative(pass_dir);
    PASSNET_TRY(files[file.string()], read_beneath(pass_dir, file, FileKind::Kernel));
  }
  return files;
}

Result<AttemptResult> run_attempt(const AttemptSetup& setup, const AttemptServices& services) {
  const fs::path file = setup.directory / kCompletionsFile;
  PASSNET_TRY(LineFile completions, LineFile::open(file, true));
  PASSNET_TRY(Completions known, completions_from_text(file.string(), completions.kept()));
  const Workspace workspace(setup.directory / "workspace");
  if (known.facts) {
    PASSNET_TRY_VOID(check_same(*known.facts, setup.facts, setup.directory));
  } else {
    // Nothing counts that was there without a first line.
    std::error_code failed;
    fs::remove_all(workspace.root(), failed);
    fs::remove(setup.directory / "edits.jsonl", failed);
    PASSNET_TRY_VOID(make_workspace(setup.sample, workspace.root()));
    Step prompt;
    prompt.messages = setup.prompt;
    PASSNET_TRY_VOID(completions.append(completion_line(prompt, &setup.facts)));
    known.steps.push_back(std::move(prompt));
  }
  PASSNET_TRY(EditHistory edits,
              EditHistory::open(setup.directory / "edits.jsonl", workspace, known.steps.back().number));
  return Attempt(setup, services, std::move(completions), std::move(known.steps), std::move(edits)).run();
}

}  // namespace passnet::agent
