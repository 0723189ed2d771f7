// passnet reward: what passes are worth, for trainers on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "agent/prompt/prompt.h"
#include "agent/reward/service.h"
#include "agent/run/evaluator.h"
#include "command.h"
#include "serving.h"

namespace passnet::cli {

namespace {

Result<std::vector<agent::RewardTask>> load_tasks(const std::vector<std::filesystem::path>& paths,
                                                  const std::string& device) {
  std::vector<agent::RewardTask> tasks;
  std::set<std::string> names;
  for (const std::filesystem::path& path : paths) {
    agent::RewardTask task;
    PASSNET_TRY(task.sample, graphdir::load_sample(path));
    if (!names.insert(task.sample.name).second)
      return bad_input(fmt::format("two samples are named '{}', expected one of a name", task.sample.name));
    PASSNET_TRY(task.prompt, agent::make_answer_prompt(task.sample, device));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Result<void> serve(ServingFlags& flags) {
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, begin_serving(flags));
  PASSNET_TRY(std::vector<agent::RewardTask> tasks, load_tasks(paths, flags.device_in_words()));
  flags.evaluate.other_tracks = false;  // no reward is made of them
  agent::Evaluator evaluator(flags.evaluate, flags.lanes,
                             [](const std::string& why) { say_error("waiting: {}\n", why); });
  const agent::RewardService service(
      std::move(tasks),
      {[&](const graphdir::Sample& task) { return evaluator.evaluate(task, false); }, evaluator.lanes()});
  return serve_tasks(flags, service.routes(), "rewards", "", paths.size());
}

}  // namespace

void add_reward(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ServingFlags>();
  CLI::App* command = app.add_subcommand("reward", "serve what passes are worth, for reinforcement learning");
  add_serving_options(*command, *flags, 8765);
  command->footer(
      "POST /reward {\"task\": NAME, \"text\": ANSWER} or {\"task\": NAME, \"files\": {NAME: TEXT}}; POST /rewards "
      "{\"items\": […]};\nGET /tasks (docs/agent.md).\n\nExample:  passnet reward samples/* --port 8765");
  command->callback([flags, &exit_code] { exit_code = finish(serve(*flags)); });
}

}  // namespace passnet::cli
