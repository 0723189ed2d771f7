// passnet leaderboard score: submissions in; what each scores by our rules and by upstream's, beside what was published.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/file/file.h"
#include "base/processors.h"
#include "command.h"
#include "leaderboard.h"
#include "leaderboard/evaluate.h"
#include "leaderboard/render.h"
#include "options.h"
#include "record/verdict.h"
#include "report/progress.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

struct LeaderboardFlags {
  std::vector<std::string> submissions;
  std::string samples, graphs, filter;
  int limit = 0;
  std::string device = "cpu";
  run::BatchOptions batch;
  int build_jobs = -1;  // -1: as suits the device
  bool force = false, json = false;
  Shard shard;
};

// On a GPU the processors have little else to do before the first graph; on the CPU compiling is not what takes time.
int suitable_build_jobs(bool on_gpu) {
  return on_gpu ? std::clamp(static_cast<int>(available_processors().size()) / 2, 1, 128) : 0;
}

// A bar of the graphs that all models have left.
class Progress {
 public:
  run::BatchHooks hooks_of(const std::string& model) {
    run::BatchHooks hooks;
    hooks.waiting = say_waiting;
    hooks.planned = [this, model](size_t graphs) {
      say_error("{}: {} graphs to evaluate\n", model, graphs);
      graphs_ += graphs;
    };
    hooks.again = [model](const std::string& task, const std::vector<std::string>& graphs, const std::string& reason) {
      say_again(model + "/" + task, graphs, reason);
    };
    hooks.building = [model](size_t graphs) { say_error("{}: compiling what {} graphs launch\n", model, graphs); };
    hooks.started = [this, model](const std::string& task, const std::string& graph) {
      if (!bar_) bar_.emplace(graphs_);
      bar_->start(fmt::format("{}/{}/{}", model, task, graph));
    };
    hooks.finished = [this, model](const record::RunRecord& record) {
      bar_->finish(fmt::format("{}/{}/{}", model, record.sample, record.graph), record::headline(record));
    };
    return hooks;
  }
  void end() { bar_.reset(); }

 private:
  size_t graphs_ = 0;
  std::optional<report::ProgressBar> bar_;
};

// Whether every graph of every task has a record that says something of its pass.
bool all_evaluated(const leaderboard::Leaderboard& board) {
  return std::ranges::all_of(board.models,
                             [](const leaderboard::ModelStanding& model) { return model.left_out.unevaluated == 0; });
}

Result<ExitCode> score_submissions(LeaderboardFlags& flags) {
  leaderboard::EvaluateRequest request;
  PASSNET_TRY(flags.batch.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY_VOID(settle_slots(flags.batch.evaluate.gpu, flags.batch.slots));
  PASSNET_TRY(request.submissions, leaderboard::find_submissions(flags.submissions));
  PASSNET_TRY(leaderboard::TaskSet tasks, leaderboard::load_tasks(flags.samples, flags.graphs));
  PASSNET_TRY(tasks, leaderboard::select_tasks(std::move(tasks), flags.filter, flags.limit));
  const size_t listed = tasks.tasks.size();
  const auto is_elsewhere = [&](const auto& task) { return !flags.shard.holds(task.name); };
  std::erase_if(tasks.tasks, is_elsewhere);
  if (tasks.tasks.empty()) say_empty_shard(flags.shard, listed, "sample");
  request.tasks = tasks.tasks;
  request.batch = flags.batch;
  if (!flags.shard.is_whole()) request.batch.shard = to_string(flags.shard);
  request.batch.evaluate.other_tracks = false;  // no score is made of them
  request.batch.build_jobs =
      flags.build_jobs >= 0 ? flags.build_jobs : suitable_build_jobs(flags.batch.evaluate.gpu.has_value());
  request.force = flags.force;
  Progress progress;
  Result<std::vector<leaderboard::ModelRecords>> evaluated =
      leaderboard::evaluate(request, [&](const std::string& model) { return progress.hooks_of(model); });
  progress.end();
  if (interrupted()) {
    say_error("interrupted: what was finished is kept in '{}'; go on with --resume\n", flags.batch.out.string());
    return kInterrupted;
  }
  if (!evaluated) return std::move(evaluated).error();
  const leaderboard::Leaderboard board = leaderboard::rank_models(*evaluated);
  const std::string as_json = leaderboard::render_json(board, tasks.unusable);
  const std::filesystem::path page = flags.batch.out / "leaderboard.html";
  PASSNET_TRY_VOID(write_file(flags.batch.out / "leaderboard.json", as_json));
  PASSNET_TRY_VOID(write_file(page, leaderboard::render_html(board, tasks.unusable)));
  print_result(flags.json ? as_json : leaderboard::render_text(board, tasks.unusable));
  if (!flags.json) print_result(fmt::format("\nrecords by model, and this as a page: {}\n", page.string()));
  if (!all_evaluated(board)) {
    say_error("not evaluated: some graphs, for reasons outside the passes; --resume evaluates them again\n");
    return kResource;
  }
  return tasks.unusable.empty() ? kOk : kNotAllCorrect;
}

/// Adds the options of the machine, of timing and of plans.
void add_evaluation_options(CLI::App& command, LeaderboardFlags& flags) {
  add_device_option(command, flags.device);
  add_slot_options(command, flags.batch.slots, "samples");
  add_wait_options(command, flags.batch.evaluate);
  command
      .add_option("--build-jobs", flags.build_jobs,
                  "graphs whose kernels are compiled at a time, ahead of their turn; 0: none")
      ->check(integer_in(0, 128))
      ->default_str("half the processors on a GPU, else 0");
  add_timing_options(command, flags.batch.evaluate.warmup, flags.batch.evaluate.trials);
  add_drawn_seed_option(command, flags.batch.seed, "seed of the inputs");
  command.add_option("--threads", flags.batch.evaluate.threads, "threads of each side; default: all processors")
      ->check(integer_in(1, 1024));
  add_library_flag(command, flags.batch.evaluate.allow_library);
  add_timeout_option(command, flags.batch.evaluate.timeout_s, "time limit of a worker's request, in seconds");
  add_host_code_options(command, flags.batch.evaluate.host_code);
}

}  // namespace

void add_leaderboard_score(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<LeaderboardFlags>();
  flags->batch.out = "leaderboard-out";
  CLI::App* command = group.add_subcommand(
      "score", "evaluate submissions sample by sample and score them, by PassNet's rules and PassBench's");
  command
      ->add_option("SUBMISSION", flags->submissions,
                   "directories named after their model, each with a directory of passes per sample")
      ->required();
  command
      ->add_option("--samples", flags->samples,
                   "output of 'passnet dataset official', a directory of samples, or one of SAMPLE.txt lists of graphs")
      ->required();
  command->add_option("--graphs", flags->graphs, "for SAMPLE.txt lists: directory that their lines are relative to");
  command->add_option("--filter", flags->filter, "evaluate only samples whose name contains this text");
  command->add_option("--limit", flags->limit, "evaluate only the first N samples by name; 0: all")
      ->check(integer_in(0, 1000000))
      ->capture_default_str();
  add_shard_option(*command, flags->shard, "samples");
  add_out_option(*command, flags->batch.out, "directory for MODEL/SAMPLE/records.jsonl and leaderboard.html")
      ->capture_default_str();
  CLI::Option* resume = command->add_flag("--resume", flags->batch.resume,
                                          "continue the run in --out; keep records that are still valid");
  command->add_flag("--force", flags->force, "delete the records in --out and start over")->excludes(resume);
  add_json_flag(*command, flags->json);
  add_evaluation_options(*command, *flags);
  command->footer(
      "OUT/MODEL is a run like those of 'passnet eval', for score, verify, compare and reproduce. Published scores\n"
      "are the score.txt beside the passes. A sample that a model lacks, or whose list of passes is broken, fails.\n"
      "0: all was evaluated, right or wrong; 1: a sample cannot be used; 4: the machine kept graphs from being\n"
      "evaluated.\n\n"
      "Example:  passnet leaderboard score submissions/* --samples official --device cuda --out board");
  group_options(*command,
                {{"Input", {"--samples", "--graphs", "--filter", "--limit", "--shard", "--resume", "--force"}},
                 {"Plans", {"--allow-library", "--host-code"}},
                 {"Machine", {"--device", "--jobs", "--overlap", "--build-jobs", "--threads", "--wait", "--timeout"}},
                 {"Timing", {"--warmup", "--trials", "--seed"}},
                 {"Output", {"--out", "--json"}}});
  command->callback([flags, &exit_code] {
    catch_interrupts();
    flags->batch.evaluate.interrupted = &interrupted();
    exit_code = finish(score_submissions(*flags));
  });
}

}  // namespace passnet::cli
