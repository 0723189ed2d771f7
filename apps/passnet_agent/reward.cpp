// passnet reward: rewards of passes for trainers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "agent.h"
#include "agent/feedback/feedback.h"
#include "agent/prompt/prompt.h"
#include "agent/reward/jobs.h"
#include "agent/reward/numbers.h"
#include "agent/reward/service.h"
#include "agent/run/evaluator.h"
#include "base/file/temporary_directory.h"
#include "command.h"
#include "external_commands.h"
#include "options.h"
#include "serving.h"

namespace passnet::cli {

namespace {

struct RewardFlags : ServingFlags {
  std::filesystem::path queue;  // empty: one that ends with the service
  bool once = false;
};

/// Prints the reward of the sample's own passes on stdout, and what came of them on stderr.
Result<void> judge_once(RewardFlags& flags) {
  constexpr int64_t kFeedbackTokens = 2000;
  PASSNET_TRY(const std::vector<graphdir::Sample> samples, begin_serving(flags));
  if (samples.size() != 1) return bad_input(fmt::format("--once: found {} samples, expected one", samples.size()));
  flags.evaluate.other_tracks = false;
  agent::Evaluator evaluator(flags.evaluate, flags.slots, say_waiting);
  PASSNET_TRY(const agent::Evaluated made, evaluator.evaluate_afresh(samples.front()));
  say_error("{}\n", Lines{agent::render_feedback(made.records, kFeedbackTokens)});
  PASSNET_TRY(const Json numbers, agent::reward_numbers(made.records));
  print_result(dump(numbers) + "\n");
  return {};
}

Result<void> serve(RewardFlags& flags) {
  PASSNET_TRY(const std::vector<graphdir::Sample> samples, begin_serving(flags));
  std::vector<agent::RewardTask> tasks;
  for (const graphdir::Sample& sample : samples) {
    PASSNET_TRY(std::string prompt, agent::make_answer_prompt(sample, flags.evaluate.gpu.has_value()));
    tasks.push_back({sample, std::move(prompt)});
  }
  flags.evaluate.other_tracks = flags.evaluate.control = false;  // no reward is made of them
  std::optional<TemporaryDirectory> passing;
  if (flags.queue.empty()) {
    PASSNET_TRY(TemporaryDirectory made, TemporaryDirectory::make("passnet-jobs-"));
    flags.queue = passing.emplace(std::move(made)).path();
  }
  PASSNET_TRY(const std::unique_ptr<agent::JobQueue> queue, agent::JobQueue::open(flags.queue));
  agent::Evaluator evaluator(flags.evaluate, flags.slots, say_waiting);
  const auto evaluate = [&](const graphdir::Sample& task, bool timed,
                            const std::function<bool()>& is_spent) -> Result<agent::Records> {
    PASSNET_TRY(agent::Evaluated made,
                timed ? evaluator.evaluate(task, false, is_spent) : evaluator.check(task, is_spent));
    return std::move(made.records);
  };
  agent::RewardService service(std::move(tasks), {evaluate, evaluator.slots(), [] { return interrupted().load(); }},
                               *queue);
  return serve_tasks(flags, service.routes(), "rewards", "", samples.size());
}

}  // namespace

void add_reward(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RewardFlags>();
  CLI::App* command = add_command(app, kReward);
  flags->server.port = 8765;
  CLI::Option* const listen = add_serving_options(*command, *flags, "address to serve; port 0: any free one");
  listen->default_str("127.0.0.1:8765");
  add_out_option(*command, flags->queue, "directory that keeps jobs and results when the service ends");
  command
      ->add_flag("--once", flags->once,
                 "serve nothing: evaluate the sample's own passes, print their reward as JSON and end")
      ->excludes(listen);
  command->footer(
      "POST /reward {\"task\": NAME, \"text\": ANSWER} or {\"task\": NAME, \"files\": {NAME: TEXT}}; POST /rewards or "
      "/jobs\n{\"items\": […]}; GET /jobs/ID?wait=SECONDS; GET /tasks, /metrics, /healthz (docs/agent.md).\n\n"
      "Example:  passnet reward samples/* --listen 8765");
  command->callback([flags, &exit_code] { exit_code = finish(flags->once ? judge_once(*flags) : serve(*flags)); });
}

}  // namespace passnet::cli
