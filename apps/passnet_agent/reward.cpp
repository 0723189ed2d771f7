// passnet reward: what passes are worth, for trainers on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "agent.h"
#include "agent/prompt/prompt.h"
#include "agent/reward/service.h"
#include "agent/run/evaluator.h"
#include "command.h"
#include "external_commands.h"
#include "serving.h"

namespace passnet::cli {

namespace {

Result<void> serve(ServingFlags& flags) {
  PASSNET_TRY(const std::vector<graphdir::Sample> samples, begin_serving(flags));
  std::vector<agent::RewardTask> tasks;
  for (const graphdir::Sample& sample : samples) {
    PASSNET_TRY(std::string prompt, agent::make_answer_prompt(sample, flags.evaluate.gpu.has_value()));
    tasks.push_back({sample, std::move(prompt)});
  }
  flags.evaluate.other_tracks = false;  // no reward is made of them
  agent::Evaluator evaluator(flags.evaluate, flags.slots, say_waiting);
  const auto evaluate = [&](const graphdir::Sample& task) -> Result<agent::Records> {
    PASSNET_TRY(agent::Evaluated made, evaluator.evaluate(task, false));
    return std::move(made.records);
  };
  const agent::RewardService service(std::move(tasks), {evaluate, evaluator.slots()});
  return serve_tasks(flags, service.routes(), "rewards", "", samples.size());
}

}  // namespace

void add_reward(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ServingFlags>();
  CLI::App* command = add_command(app, kReward);
  flags->server.port = 8765;
  add_serving_options(*command, *flags, "address to serve; port 0: any free one")->default_str("127.0.0.1:8765");
  command->footer(
      "POST /reward {\"task\": NAME, \"text\": ANSWER} or {\"task\": NAME, \"files\": {NAME: TEXT}}; POST /rewards "
      "{\"items\": […]};\nGET /tasks (docs/agent.md).\n\nExample:  passnet reward samples/* --listen 8765");
  command->callback([flags, &exit_code] { exit_code = finish(serve(*flags)); });
}

}  // namespace passnet::cli
