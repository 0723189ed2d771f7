// passnet agent replay: what recorded trajectories are worth here and now, without a model.
#include "agent/run/replay.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent.h"
#include "agent/feedback/feedback.h"
#include "agent/run/evaluator.h"
#include "agent/trajectory/json.h"
#include "base/json/json.h"
#include "command.h"
#include "graphdir/sample.h"
#include "options.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

struct ReplayFlags {
  std::filesystem::path file;
  std::vector<std::string> samples;
  std::string root, device = "cpu";
  run::EvaluateOptions evaluate;
  bool json = false;
};

Result<ExitCode> replay(ReplayFlags& flags) {
  PASSNET_TRY(flags.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY(const std::vector<std::filesystem::path> samples, graphdir::expand_paths(flags.samples, flags.root));
  PASSNET_TRY(const std::vector<agent::Recorded> recorded, agent::load_recorded(flags.file, samples));
  agent::Evaluator evaluator(flags.evaluate, {}, say_waiting);
  Json results = Json::array();
  bool all_correct = true;
  if (!flags.json) say("{:<44}  {:>8}  {:>8}  {}\n", "trajectory", "recorded", "now", "correct");
  for (const agent::Recorded& one : recorded) {
    if (interrupted()) return kInterrupted;
    PASSNET_TRY(const agent::Outcome outcome, agent::replay(one, evaluator));
    all_correct = all_correct && outcome.correct + outcome.abstained == outcome.graphs;
    if (!flags.json)
      say("{:<44}  {:>8.3f}  {:>8.3f}  {} of {}\n", one.name, one.reward, outcome.score, outcome.correct,
          outcome.graphs);
    results.push_back({{"name", valid_utf8(one.name)}, {"recorded", one.reward}});
    results.back().update(to_json_object(outcome));
  }
  if (flags.json) print_result(dump(results, 1) + "\n");
  return all_correct ? kOk : kNotAllCorrect;
}

}  // namespace

void add_agent_replay(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command = group.add_subcommand("replay", "evaluate the passes of recorded trajectories without a model");
  command->add_option("FILE", flags->file, "trajectory.jsonl, trajectories.jsonl, or a run (--out of 'agent run')")
      ->required();
  command->add_option("PATH", flags->samples, "their samples, or text files that list samples")->required();
  add_root_option(*command, flags->root);
  add_device_option(*command, flags->device);
  add_wait_options(*command, flags->evaluate);
  add_timeout_option(*command, flags->evaluate.timeout_s, "time limit of a worker's request, in seconds");
  add_library_flag(*command, flags->evaluate.allow_library);
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet agent replay run samples");
  command->callback([flags, &exit_code] {
    catch_interrupts();
    flags->evaluate.interrupted = &interrupted();
    exit_code = finish(replay(*flags));
  });
}

}  // namespace passnet::cli
