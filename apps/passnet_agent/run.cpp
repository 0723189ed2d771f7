// passnet agent run: attempts of a model at samples, and what came of them.
#include "agent/run/run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "agent.h"
#include "agent/run/progress.h"
#include "agent/trajectory/trajectory.h"
#include "base/json/json.h"
#include "base/usage.h"
#include "command.h"
#include "graphdir/sample.h"
#include "key.h"
#include "options.h"
#include "report/progress.h"
#include "run/worker/worker.h"
#include "select.h"

namespace passnet::cli {

namespace {

struct AgentFlags {
  std::vector<std::string> paths;
  std::string root, device = "cpu", api = "openai", tools = "native", key_file;
  std::filesystem::path price_file, example;
  SampleSelection selection;
  Shard shard;
  agent::RunOptions run;
  bool no_stream = false, json = false;
};

/// Longest pause in an answer, as a part of its time limit.
constexpr double kMostPause = 0.1;

Result<void> complete(AgentFlags& flags) {
  agent::ModelOptions& model = flags.run.model;
  model.limits.idle_s = kMostPause * model.limits.whole_s;
  model.api = flags.api == "anthropic" ? &agent::kAnthropic : &agent::kOpenAi;
  if (model.base_url.empty())
    model.base_url = model.api == &agent::kAnthropic ? "https://api.anthropic.com" : "https://api.openai.com/v1";
  if (!model.base_url.starts_with("http://") && !model.base_url.starts_with("https://"))
    return usage_error(
               fmt::format("--base-url: expected http://… or https://…, found {}", passnet::quoted(model.base_url)))
        .with_hint("for example http://localhost:8000/v1");
  model.native_tools = flags.tools == "native";
  model.request.stream = !flags.no_stream;
  PASSNET_TRY(model.key, read_key(flags.key_file, *model.api));
  if (!flags.price_file.empty()) {
    PASSNET_TRY(flags.run.price, agent::load_price(flags.price_file, model.request.model));
  }
  if (flags.run.limits.cost_limit > 0 && flags.price_file.empty())
    return usage_error("--cost-limit without --price-file, expected both")
        .with_hint("nothing else says what a token costs");
  if (!flags.example.empty()) {
    PASSNET_TRY(flags.run.examples, agent::load_examples(flags.example));
  }
  agent::AttemptFacts& facts = flags.run.limits;
  facts.model = model.request.model;
  facts.api = model.api->name;
  facts.tools = flags.tools;
  facts.temperature = model.request.temperature;
  PASSNET_TRY(flags.run.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY_VOID(settle_slots(flags.run.evaluate.gpu, flags.run.slots));
  PASSNET_TRY(std::vector<std::filesystem::path> samples, graphdir::expand_paths(flags.paths, flags.root));
  PASSNET_TRY(samples, select(std::move(samples), flags.selection));
  PASSNET_TRY(flags.run.samples, graphdir::load_samples(samples));
  std::erase_if(flags.run.samples, [&](const graphdir::Sample& sample) { return !flags.shard.holds(sample.name); });
  if (flags.run.samples.empty()) say_empty_shard(flags.shard, samples.size(), "sample");
  return {};
}

// "vit/attempt_0 step 3: file_editor, pass_evaluator (score 1.231), 4120 tokens"
void say_step(const agent::AttemptFacts& facts, const agent::Step& step) {
  if (report::quiet()) return;
  std::string what;
  for (const agent::Message& message : step.messages) {
    for (const agent::ToolCall& call : message.calls) what += (what.empty() ? "" : ", ") + call.name;
  }
  if (what.empty()) what = step.messages.empty() ? "last evaluation" : "no call";
  for (const agent::Evaluation& one : step.evaluations)
    what +=
        fmt::format(" (score {:.3f}, {} of {} correct)", one.outcome.score, one.outcome.correct, one.outcome.graphs);
  say_error("{}/attempt_{} step {}: {}, {} tokens\n", facts.sample, facts.attempt, step.number, what,
            step.spent.tokens());
}

void say_attempt(const agent::AttemptResult& one) {
  if (!one.error.empty()) say_error("{}\n", Lines{one.error});
  if (report::quiet()) return;
  say_error("{}/attempt_{} ended ({}), best {:.3f}, {} steps, {} tokens, ${:.2f}\n", one.facts.sample,
            one.facts.attempt, one.exit_reason, one.reward(), one.steps, one.spent.tokens(), one.spent.cost);
}

/// A run as it goes on: what happens line by line, and below it, on a terminal, how far it is.
class RunView {
 public:
  RunView(size_t planned, size_t workers) : progress_(planned, workers) {}

  agent::RunHooks hooks() {
    agent::RunHooks hooks;
    hooks.told = [this](const std::string& what) { above([&] { say_error("waiting: {}\n", what); }); };
    hooks.began = [this] { above([&] { progress_.begin(); }); };
    hooks.stepped = [this](const agent::AttemptFacts& facts, const agent::Step& step) {
      progress_.step(facts, step);
      above([&] { say_step(facts, step); });
    };
    hooks.finished = [this](const agent::AttemptResult& one) {
      progress_.finish(one);
      above([&] { say_attempt(one); });
      if (!line_.on_terminal() && !report::quiet()) say_error("{}\n", progress_.text(line_.elapsed_s()));
    };
    return hooks;
  }
  size_t failed() const { return progress_.failed(); }
  void end() { line_.clear(); }

 private:
  void above(const auto& say) {
    line_.clear();
    say();
    line_.show(progress_.text(line_.elapsed_s()));
  }

  agent::RunProgress progress_;
  report::LiveLine line_;
};

void print_run(const agent::RunResult& result) {
  say("{:<40}  {:>9}  {:>9}  {:>9}  {:>6}\n", "sample", "succeeded", "best", "confirmed", "score");
  for (const agent::TaskResult& task : result.tasks) {
    double best = 1;
    for (const agent::AttemptResult& one : task.attempts) best = std::max(best, one.reward());
    const std::string confirmed = !task.confirmed              ? "-"
                                  : task.confirmed->measured() ? fmt::format("{:.3f}", task.confirmed->score)
                                                               : "disturbed";
    say("{:<40}  {:>9}  {:>9.3f}  {:>9}  {:>6.3f}\n", task.sample,
        fmt::format("{} of {}", task.succeeded(), task.attempts.size()), best, confirmed, task.score());
  }
  const std::vector<double> pass = agent::pass_at_all_k(result);
  std::string text = fmt::format(
      "confirmed: the best attempt, measured once more; that is the score, and 1 where nothing became faster\n\n"
      "score {:.3f} (geometric mean; 1 = eager, and what doing nothing is worth)\n",
      agent::score_of(result));
  for (size_t k = 0; k < pass.size(); ++k) text += fmt::format("{}pass@{} {:.2f}", k == 0 ? "" : ", ", k + 1, pass[k]);
  const agent::Ledger& spent = result.spent;
  text += fmt::format("\n{} tokens in ({} cached), {} out, ${:.2f}; model {}, tools {}, of which {} of the device\n",
                      spent.usage.input, spent.usage.cached, spent.usage.output, spent.cost,
                      report::duration_text(spent.llm_seconds), report::duration_text(spent.tool_seconds),
                      report::duration_text(spent.device_seconds));
  if (const auto gains = static_cast<double>(agent::gains_of(result)); gains > 0)
    text += fmt::format("for each of {} samples that became faster: ${:.2f}, {} of work, {} of the device\n", gains,
                        spent.cost / gains, report::duration_text(spent.seconds() / gains),
                        report::duration_text(spent.device_seconds / gains));
  print_result(text);
}

Result<ExitCode> run_command(AgentFlags& flags) {
  PASSNET_TRY_VOID(complete(flags));
  const size_t planned = flags.run.samples.size() * static_cast<size_t>(flags.run.attempts);
  RunView view(planned, static_cast<size_t>(flags.run.workers));
  PASSNET_TRY(const agent::RunResult result, agent::run_agent(flags.run, view.hooks()));
  view.end();
  if (flags.json)
    print_result(dump(agent::to_json(result), 1) + "\n");
  else
    print_run(result);
  if (result.interrupted) {
    say_error("interrupted: what was finished is kept in '{}'; go on with --resume\n", flags.run.out.string());
    return kInterrupted;
  }
  if (view.failed() > 0) {
    say_error("not finished: {} of {} attempts, as the model could not be asked; --resume goes on with them\n",
              view.failed(), planned);
    return kResource;
  }
  if (!flags.run.samples.empty())
    print_next(
        fmt::format("passnet agent show {}", (flags.run.out / flags.run.samples.front().name / "attempt_0").string()));
  return kOk;
}

void add_model_options(CLI::App& command, AgentFlags& flags) {
  agent::ModelOptions& model = flags.run.model;
  command.add_option("--model", model.request.model, "the model's name on the server")->required();
  command.add_option("--base-url", model.base_url,
                     "URL of the server, for example http://localhost:8000/v1; default: that of the API");
  command.add_option("--api", flags.api, "protocol of the server")
      ->check(one_of({"openai", "anthropic"}))
      ->capture_default_str();
  command.add_option("--key-file", flags.key_file,
                     "file with the server's key; default: environment variable OPENAI_API_KEY or ANTHROPIC_API_KEY");
  command.add_option("--temperature", model.request.temperature, "sampling temperature; default: the server's")
      ->check(number_in(0, 2))
      ->default_str("");
  command
      .add_option("--max-output-tokens", model.request.max_output_tokens, "tokens of an answer; default: the server's")
      ->check(integer_in(1, 10'000'000))
      ->default_str("");
  command.add_option("--tools", flags.tools, "native: tool calls of the API; text: tool calls in the answer's text")
      ->check(one_of({"native", "text"}))
      ->capture_default_str();
  command.add_flag("--no-stream", flags.no_stream, "do not stream answers");
  command
      .add_option("--answer-timeout", model.limits.whole_s,
                  "time limit of an answer, in seconds; a pause in it may take a tenth of that")
      ->check(number_in(0.1, 86400))
      ->capture_default_str();
  command
      .add_option("--tries", model.retries.tries, "tries of a request when the server is busy or the connection breaks")
      ->check(integer_in(1, 1000))
      ->capture_default_str();
  command
      .add_option("--first-wait", model.retries.first_s,
                  "longest wait before the second try, in seconds; doubles with each further try")
      ->check(number_in(0.001, 3600))
      ->capture_default_str();
}

void add_limit_options(CLI::App& command, AgentFlags& flags) {
  agent::AttemptFacts& limits = flags.run.limits;
  limits.max_steps = 50;
  limits.token_limit = 65536;
  command.add_option("--max-steps", limits.max_steps, "answers of the model per attempt")
      ->check(integer_in(1, 100000))
      ->capture_default_str();
  command
      .add_option("--token-limit", limits.token_limit,
                  "tokens of context; older tool results are cut to stay below; 0: no limit")
      ->check(integer_in(0, 100'000'000))
      ->capture_default_str();
  command.add_option("--time-limit", limits.time_limit_s, "time limit of an attempt, in seconds; 0: none")
      ->check(number_in(0, 1e9))
      ->capture_default_str();
  command.add_option("--cost-limit", limits.cost_limit, "cost limit of an attempt, in dollars; 0: none")
      ->check(number_in(0, 1e9))
      ->capture_default_str();
  command.add_option("--price-file", flags.price_file,
                     "dollars per million tokens: {\"MODEL\": {\"input\": 3, \"cached\": 0.3, \"output\": 15}}");
  command.add_option("-k,--k", flags.run.attempts, "attempts per sample")
      ->check(integer_in(1, 10000))
      ->capture_default_str();
  command.add_option("--workers", flags.run.workers, "attempts at a time; their evaluations share the device")
      ->check(integer_in(1, 1024))
      ->capture_default_str();
}

void add_sample_options(CLI::App& command, AgentFlags& flags) {
  command.add_option("PATH", flags.paths, "samples, or text files that list samples")->required();
  add_root_option(command, flags.root);
  command.add_option("--filter", flags.selection.filter, "use only samples whose path contains this text");
  command.add_option("--limit", flags.selection.limit, "use only the first N samples")->check(integer_in(1, 1000000));
  add_shard_option(command, flags.shard, "samples");
}

}  // namespace

void add_agent_run(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<AgentFlags>();
  CLI::App* command =
      group.add_subcommand("run", "let a language model write passes, and measure each sample's best attempt again");
  add_sample_options(*command, *flags);
  add_model_options(*command, *flags);
  add_limit_options(*command, *flags);
  command->add_option("--example", flags->example,
                      "worked example from 'author --export', or a directory of them, in place of the shipped one; the "
                      "first that is not the sample's own answer is used");
  add_out_option(*command, flags->run.out, "directory for trajectories, records and passes")->required();
  command->add_flag("--resume", flags->run.resume, "continue the run in --out");
  add_device_option(*command, flags->device);
  add_slot_options(*command, flags->run.slots, "evaluations");
  add_timing_options(*command, flags->run.evaluate.warmup, flags->run.evaluate.trials);
  add_wait_options(*command, flags->run.evaluate);
  add_timeout_option(*command, flags->run.evaluate.timeout_s, "time limit of a worker's request, in seconds");
  add_library_flag(*command, flags->run.evaluate.allow_library);
  add_json_flag(*command, flags->json);
  command->footer(
      "Ctrl-C ends the run and drops the current step; --resume repeats it (docs/agent.md).\n"
      "\n"
      "Example:  passnet agent run samples/vit_add_layer_norm --model qwen3-coder --base-url http://localhost:8000/v1 "
      "-o run");
  group_options(
      *command,
      {{"Input", {"--root", "--filter", "--limit", "--shard", "--example"}},
       {"Model",
        {"--model", "--base-url", "--api", "--key-file", "--temperature", "--max-output-tokens", "--tools",
         "--no-stream", "--answer-timeout", "--tries", "--first-wait"}},
       {"Limits", {"--max-steps", "--token-limit", "--time-limit", "--cost-limit", "--price-file", "--k", "--workers"}},
       {"Evaluation",
        {"--device", "--jobs", "--overlap", "--warmup", "--trials", "--wait", "--timeout", "--allow-library"}},
       {"Output", {"--out", "--resume", "--json"}}});
  command->callback([flags, &exit_code] {
    catch_interrupts();
    flags->run.evaluate.interrupted = &interrupted();
    const Result<ExitCode> done = run_command(*flags);
    exit_code = done ? *done : report_error(done.error());
  });
}

}  // namespace passnet::cli
