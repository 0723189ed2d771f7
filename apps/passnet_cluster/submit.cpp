// passnet submit: a command as arrays of Slurm jobs, followed until they have ended, then merged.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "base/usage.h"
#include "cluster.h"
#include "cluster/slurm.h"
#include "command.h"
#include "external_commands.h"
#include "options.h"
#include "report/progress.h"

namespace passnet::cli {

namespace {

struct SubmitFlags {
  cluster::SlurmJob job;
  std::string out;
  bool slurm = false, dry_run = false, latest = false, json = false;
};

/// Slurm's default; what --dry-run divides by.
constexpr int kUsualLargestTask = 1000;
constexpr double kPollS = 2;
/// Seconds in which workers see that their queue is done, and end.
constexpr double kToEndS = 60;

fs::path script_of(const SubmitFlags& flags) { return flags.job.out / "slurm" / "array.sh"; }

Result<void> complete(SubmitFlags& flags, std::vector<std::string> command) {
  if (!flags.slurm) return usage_error("found no --slurm, expected it").with_hint("Slurm is the only scheduler so far");
  if (!command.empty() && command.front() == "--") command.erase(command.begin());
  if (command.empty())
    return usage_error("found no command, expected one of passnet, as in 'passnet submit --slurm -o runs eval LIST'");
  flags.job.command = std::move(command);
  flags.job.program = beside_binary("passnet");
  flags.job.out = absolute_path(flags.out);
  if (cluster::is_pulling(flags.job) && flags.job.command.size() < 2)
    return usage_error("work: found no QUEUE, expected one");
  return {};
}

int print_plan(const SubmitFlags& flags, const std::vector<cluster::SlurmArray>& arrays) {
  const std::string script = cluster::render_script(flags.job);
  std::vector<std::string> lines;
  for (const cluster::SlurmArray& array : arrays)
    lines.push_back(join(cluster::sbatch_arguments(script_of(flags), array), " "));
  if (flags.json)
    print_result(dump(Json{{"script", script}, {"commands", lines}}) + "\n");
  else
    print_result(fmt::format("# {}\n{}\n# then\n{}\n", script_of(flags).string(), script, join(lines, "\n")));
  return kOk;
}

// The queue that the tasks pull from; none: they have shards, or it is behind a server.
std::optional<cluster::QueueStatus> queue_of(const SubmitFlags& flags) {
  if (!cluster::is_pulling(flags.job)) return std::nullopt;
  const Result<cluster::Queue> queue = cluster::Queue::open(flags.job.command[1]);
  if (!queue) return std::nullopt;
  const Result<cluster::QueueStatus> status = queue->status();
  return status ? std::optional(*status) : std::nullopt;
}

// "12 pending (Resources), 4 running; 120 of 200 done, 0 failed, …"
std::string progress_of(const SubmitFlags& flags, const cluster::SlurmTasks& tasks,
                        const std::optional<cluster::QueueStatus>& queue) {
  const std::string reason = tasks.reason.empty() ? "" : fmt::format(" ({})", tasks.reason);
  const std::string text = tasks.answered
                               ? fmt::format("{} pending{}, {} running", tasks.pending, reason, tasks.running)
                               : std::string("Slurm does not answer");
  if (queue) return text + "; " + line_of(*queue);
  if (cluster::is_pulling(flags.job)) return text;
  const size_t left = cluster::unfinished_tasks(flags.job).size();
  return text + fmt::format("; {} of {} shards done", static_cast<size_t>(flags.job.tasks) - left, flags.job.tasks);
}

// Tells whether no task gets an item any more.
bool is_over(const SubmitFlags& flags, const cluster::QueueStatus& queue) {
  if (!queue.claimed.empty()) return false;
  const bool stays = std::ranges::find(flags.job.command, "--forever") != flags.job.command.end();
  return queue.draining || (!stays && queue.done + queue.failed == queue.items);
}

void wait_for_poll() {
  for (double left = kPollS; left > 0 && !interrupted(); left -= 0.1)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

// Follows tasks until all have ended, or until Ctrl-C, which cancels them. Tasks that have nothing to do are cancelled: those that no node
// begins, for want of nodes, and then workers that hang.
void follow(const SubmitFlags& flags, const std::vector<std::string>& jobs) {
  report::LiveLine line;
  for (double over_s = 0;;) {
    const cluster::SlurmTasks tasks = cluster::ask_tasks(jobs);
    const std::optional<cluster::QueueStatus> queue = queue_of(flags);
    line.show(progress_of(flags, tasks, queue));
    if (tasks.answered && tasks.pending + tasks.running == 0) return;
    wait_for_poll();
    if (interrupted()) break;
    over_s = queue && is_over(flags, *queue) ? over_s + kPollS : 0;
    if (over_s > kToEndS)
      cluster::cancel_jobs(jobs);
    else if (over_s > 0 && tasks.pending > 0)
      cluster::cancel_pending(jobs);
  }
  line.clear();
  cluster::cancel_jobs(jobs);
  say_error("interrupted: {} cancelled; the same command goes on\n", counted(jobs.size(), "array"));
}

// Names the work that is not done once all tasks have ended; empty: all of it is done.
Result<std::string> what_is_left(const SubmitFlags& flags) {
  if (!cluster::is_pulling(flags.job)) {
    const std::vector<int> left = cluster::unfinished_tasks(flags.job);
    if (left.empty()) return std::string();
    std::vector<std::string> names;
    for (const int task : left) names.push_back(fmt::format("{}", task));
    return fmt::format("shards without a result: {}; {}", join(names, ", "), (flags.job.out / "slurm").string());
  }
  PASSNET_TRY(const cluster::Queue queue, cluster::Queue::open(flags.job.command[1]));
  PASSNET_TRY(const cluster::QueueStatus status, queue.status());
  return status.done == status.items ? std::string() : line_of(status);
}

Result<ExitCode> merge_results(const SubmitFlags& flags) {
  MergeFlags merging;
  merging.out = (flags.job.out / "merged").string();
  merging.latest = flags.latest;
  if (cluster::is_pulling(flags.job)) merging.runs = {flags.job.command[1]};
  for (int task = 1; !cluster::is_pulling(flags.job) && task <= flags.job.tasks; ++task)
    merging.runs.push_back(cluster::shard_of(flags.job, task).string());
  // Shards may have grown since they were merged last.
  PASSNET_TRY_VOID(remove_directory(merging.out));
  PASSNET_TRY(const Json merged, merge(merging));
  if (flags.json)
    print_result(dump(Json{{"merged", merged}}) + "\n");
  else
    say_merged(merged);
  return kOk;
}

Result<ExitCode> submit_command(SubmitFlags& flags, std::vector<std::string> command) {
  PASSNET_TRY_VOID(complete(flags, std::move(command)));
  std::vector<int> tasks = cluster::unfinished_tasks(flags.job);
  if (flags.dry_run) return static_cast<ExitCode>(print_plan(flags, cluster::arrays_of(tasks, kUsualLargestTask)));
  catch_interrupts();
  PASSNET_TRY(const int largest, cluster::ask_largest_task());
  PASSNET_TRY_VOID(write_file(script_of(flags), std::string_view(cluster::render_script(flags.job))));
  std::vector<std::string> jobs;
  for (const cluster::SlurmArray& array : cluster::arrays_of(tasks, largest)) {
    Result<std::string> job = cluster::submit_array(script_of(flags), array);
    if (!job) {
      if (!jobs.empty()) cluster::cancel_jobs(jobs);
      return std::move(job).error();
    }
    jobs.push_back(std::move(*job));
  }
  if (!jobs.empty()) say_error("submitted: {}\n", join(jobs, ", "));
  follow(flags, jobs);
  if (interrupted()) return kInterrupted;
  PASSNET_TRY(const std::string left, what_is_left(flags));
  if (!left.empty()) {
    say_error("not merged: {}; the same command goes on\n", left);
    return kResource;
  }
  return merge_results(flags);
}

}  // namespace

void add_submit(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SubmitFlags>();
  CLI::App* command = cli::add_command(app, kSubmit);
  command->prefix_command();
  command->add_flag("--slurm", flags->slurm, "submit to Slurm");
  command->add_flag("--dry-run", flags->dry_run, "print the script and the commands of sbatch, and end");
  command->add_option("--tasks", flags->job.tasks, "tasks: shards of the command, or workers of 'work QUEUE'")
      ->check(integer_in(1, 1000000))
      ->capture_default_str();
  command->add_option("--sbatch", flags->job.options, "an option of sbatch, as --sbatch=-G1")->allow_extra_args(false);
  command->add_flag("--requeue", flags->job.requeue, "let Slurm start tasks of a lost node again");
  add_out_option(*command, flags->out, "directory for shards, logs and the merged run; all machines share it")
      ->required();
  command->add_flag("--latest", flags->latest, "as of 'passnet merge'");
  add_json_flag(*command, flags->json);
  command->footer(
      "COMMAND follows the options: any command with --shard, without its --out, or 'work QUEUE'. Results are merged "
      "in\n"
      "OUT/merged. Ctrl-C cancels all tasks. The same command goes on with what is not done.\n\n"
      "Example:  passnet submit --slurm --tasks 8 --sbatch=-G1 -o runs eval dataset/lists/eval.txt --device "
      "cuda\n"
      "          passnet submit --slurm --tasks 8 --sbatch=-G1 -o runs work queue");
  command->callback([flags, command, &exit_code] { exit_code = finish(submit_command(*flags, command->remaining())); });
}

}  // namespace passnet::cli
