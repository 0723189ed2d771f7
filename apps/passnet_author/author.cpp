// passnet author: writes the passes of samples, judges them, and keeps what is right and faster.
#include "author.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>

#include "agent/run/evaluator.h"
#include "author/forms/forms.h"
#include "base/file/file.h"
#include "base/file/leftovers.h"
#include "base/text/strings.h"
#include "base/text/visible.h"
#include "command.h"
#include "export.h"
#include "external_commands.h"
#include "options.h"
#include "report/progress.h"
#include "run/batch/job.h"
#include "run/worker/worker.h"
#include "sample.h"

namespace passnet::cli {

namespace {

struct AuthorFlags {
  std::vector<std::string> paths, reach;
  std::string root, out, device = "cpu", form;
  run::EvaluateOptions evaluate;
  run::SlotCount slots;
  AuthorSetup setup;
  Shard shard;
  bool write_only = false, explain = false, json = false;
};

Result<std::vector<author::OtherGraph>> graphs_beyond(const AuthorFlags& flags) {
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.reach, flags.root));
  std::vector<graphdir::Sample> samples;
  for (const std::filesystem::path& path : paths) {
    PASSNET_TRY(graphdir::Sample sample, graphdir::load_sample(path));
    samples.push_back(std::move(sample));
  }
  return author::load_others(samples);
}

std::string interrupted_text(const std::string& out) {
  return fmt::format("interrupted: finished samples are kept in '{}'; go on with --resume\n", visible(out));
}

/// Shows what became of all samples.
ExitCode conclude(const AuthorFlags& flags, const Json& reports) {
  if (interrupted()) {
    say_error("{}", Lines{interrupted_text(flags.out)});
    return kInterrupted;
  }
  if (flags.json)
    print_result(dump(reports, 1) + "\n");
  else if (reports.size() > 1)
    say_summary(reports, flags.slots.all());
  size_t unmeasured = 0;
  std::string why;  // of one of them
  for (const Json& report : reports) {
    unmeasured += report["unmeasured"].size();
    if (!report["unmeasured"].empty()) why = plain_text(report["unmeasured"].front());
  }
  if (unmeasured == 0) return kOk;
  say_error("{} could not be measured: {}; go on with --resume\n", counted(unmeasured, "graph"), why);
  return kResource;
}

/// After a signal; what is proven lies on disk by then.
constexpr unsigned kMostSecondsToEnd = 1;

/// A graph whose call takes long is timed fewer times: most of what is evaluated is thrown away again.
constexpr double kMostTimingS = 0.25;

/// Completes the options of evaluations, and what is set up by them.
Result<void> settle_options(AuthorFlags& flags) {
  flags.evaluate.most_timing_s = kMostTimingS;
  // Nothing here is decided by these, and no stranger wrote the passes.
  flags.evaluate.control = false;
  flags.evaluate.other_tracks = false;
  flags.evaluate.audit_clocks = false;
  PASSNET_TRY(flags.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY_VOID(settle_slots(flags.evaluate.gpu, flags.slots));
  AuthorSetup& setup = flags.setup;
  setup.out = flags.out;
  setup.at_a_time = flags.slots.all();
  setup.allow_library = flags.evaluate.allow_library;
  setup.on_gpu = flags.evaluate.gpu.has_value();
  if (!flags.form.empty()) {
    PASSNET_TRY(setup.form, author::form_called(flags.form, setup.allow_library, setup.on_gpu));
  }
  return {};
}

Result<ExitCode> author_samples(AuthorFlags& flags) {
  PASSNET_TRY_VOID(settle_options(flags));
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.paths, flags.root));
  PASSNET_TRY(std::vector<graphdir::Sample> samples, graphdir::load_samples(paths));
  std::erase_if(samples, [&](const graphdir::Sample& sample) { return !flags.shard.holds(sample.name); });
  if (samples.empty()) say_empty_shard(flags.shard, paths.size(), "sample");
  SharedOthers others;
  AuthorSetup& setup = flags.setup;
  remove_leftovers(flags.out);
  if (!flags.reach.empty()) {
    PASSNET_TRY(others.graphs, graphs_beyond(flags));
    setup.others = &others;
  }
  SharedInference inference;
  std::optional<agent::Evaluator> evaluator;
  if (!flags.write_only) {
    evaluator.emplace(flags.evaluate, flags.slots, say_waiting);
    setup.evaluate = [&](const graphdir::Sample& sample,
                         const author::IsSpent& is_spent) -> Result<std::optional<author::Records>> {
      PASSNET_TRY(agent::Evaluated made, evaluator->evaluate(sample, flags.explain, is_spent));
      if (made.records.size() < sample.graph_names.size()) return std::nullopt;
      return std::optional(std::move(made.records));
    };
  }
  report::LiveLine line;
  std::mutex line_mutex;
  setup.show_step = [&](const std::string& step) {
    const std::scoped_lock lock(line_mutex);
    line.show(step);
  };
  setup.say = [&](const std::string& text) {
    const std::scoped_lock lock(line_mutex);
    line.clear();
    if (!report::quiet()) say_error("{}\n", text);
  };
  const auto author_one = [&](const graphdir::Sample& sample, size_t) {
    return author_sample(sample, setup, inference);
  };
  Json reports = Json::array();
  const auto take = [&](Json report) -> Result<void> {
    const std::scoped_lock lock(line_mutex);
    line.clear();
    if (!flags.json) say_report(report, flags.explain);
    reports.push_back(std::move(report));
    return {};
  };
  const Result<void> done =
      run::for_each_item(std::span(samples), {flags.slots.all(), &interrupted()}, author_one, take);
  line.clear();
  // An interrupt ends the sample that is worked on with an error; what is finished is gathered all the same.
  if (!done && !interrupted()) return done.error();
  if (!setup.export_to.empty()) PASSNET_TRY_VOID(gather_lines(samples, setup.export_to));
  return conclude(flags, reports);
}

void add_judging_options(CLI::App& command, AuthorFlags& flags) {
  add_device_option(command, flags.device);
  add_slot_options(command, flags.slots, "samples");
  add_wait_options(command, flags.evaluate);
  command
      .add_option(
          "--time-limit", flags.setup.budget_s,
          "time limit for every 60 graphs of a sample, and for each part of a graph of more than 64 operators, in "
          "seconds; passes that are proven by then are kept; 0: none")
      ->check(number_in(0, 1e9))
      ->capture_default_str();
  add_timing_options(command, flags.evaluate.warmup, flags.evaluate.trials);
  add_timeout_option(command, flags.evaluate.timeout_s, "time limit of a worker's request, in seconds");
}

void add_reach_options(CLI::App& command, AuthorFlags& flags) {
  command
      .add_option("--reach", flags.reach,
                  "samples, or text files that list samples: count their graphs that each kept pass matches, and "
                  "evaluate it on up to 20 of them")
      ->allow_extra_args(false);
}

}  // namespace

void add_author(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<AuthorFlags>();
  CLI::App* command = add_command(app, kAuthor);
  command->add_option("PATH", flags->paths, "samples, or text files that list samples")->required();
  add_root_option(*command, flags->root);
  add_out_option(*command, flags->out, "directory for one directory per sample, each with a pass_dir")->required();
  add_shard_option(*command, flags->shard, "samples");
  command->add_flag("--resume", flags->setup.resume, "skip samples that are done in --out");
  command->add_option("--form", flags->form,
                      "write only this form of the passes; default: each form that may help (docs/author.md)");
  command->add_flag("--write-only", flags->write_only, "write passes without evaluating them");
  command->add_flag(
      "--explain", flags->explain,
      "print each pass's operators, limits, stored values, schedule and share of the machine's bandwidth");
  command->add_flag("--search", flags->setup.search, "also measure up to three other schedules of each kept pass");
  command->add_option(
      "--export", flags->setup.export_to,
      "also write kept passes as worked examples: SAMPLE.md for 'agent run --example', examples.jsonl for fine-tuning");
  add_judging_options(*command, *flags);
  add_library_flag(*command, flags->evaluate.allow_library);
  add_reach_options(*command, *flags);
  add_json_flag(*command, flags->json);
  group_options(*command, {{"Input", {"--root", "--shard", "--resume", "--reach"}},
                           {"Passes", {"--form", "--write-only", "--search", "--allow-library"}},
                           {"Machine", {"--device", "--jobs", "--overlap", "--wait", "--time-limit", "--timeout"}},
                           {"Timing", {"--warmup", "--trials"}},
                           {"Output", {"--out", "--explain", "--export", "--json"}}});
  command->footer("Example:  passnet author samples/vit_add_layer_norm -o authored");
  command->callback([flags, &exit_code] {
    catch_interrupts(kMostSecondsToEnd, interrupted_text(flags->out));
    flags->evaluate.interrupted = &interrupted();
    exit_code = finish(author_samples(*flags));
  });
}

}  // namespace passnet::cli
