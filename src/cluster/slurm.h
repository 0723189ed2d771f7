// Arrays of jobs of Slurm: their scripts, and what its commands say. No state of ours: Slurm keeps it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::cluster {

struct SlurmJob {
  std::filesystem::path program;     // `passnet`, absolute
  std::vector<std::string> command;  // of it
  std::filesystem::path out;         // absolute
  int tasks = 1;
  std::vector<std::string> options;  // of sbatch: "--gres=gpu:1"
  bool requeue = false;              // tasks of a lost node
};

/// A command `work QUEUE` takes items from a queue; every other one is given its shard and its own --out.
bool is_pulling(const SlurmJob& job);
/// The output of a task of a command that is given its shard.
std::filesystem::path shard_of(const SlurmJob& job, int task);
/// Its exit code as its script wrote it, in SLURM/TASK.code; none: it has not ended, or was lost.
std::optional<int> code_of(const SlurmJob& job, int task);
/// Tasks without a result: those whose code is neither 0 nor 1. In order.
std::vector<int> unfinished_tasks(const SlurmJob& job);

/// The script of all arrays. Its argument is added to a task's number in its array.
std::string render_script(const SlurmJob& job);

/// Tasks as --array takes them, and what is added to their numbers.
struct SlurmArray {
  int offset = 0;
  std::string tasks;  // "1-8,11"
};
/// largest: the highest number of a task that Slurm takes (MaxArraySize - 1).
std::vector<SlurmArray> arrays_of(const std::vector<int>& tasks, int largest);

/// The arguments of sbatch for one array.
std::vector<std::string> sbatch_arguments(const std::filesystem::path& script, const SlurmArray& array);

/// MaxArraySize - 1 as `scontrol show config` tells it. Errors: Resource: Slurm is missing or does not answer.
Result<int> ask_largest_task();
/// The job's number. Errors: Resource: what sbatch said.
Result<std::string> submit_array(const std::filesystem::path& script, const SlurmArray& array);

/// Tasks of jobs that have not ended.
struct SlurmTasks {
  int pending = 0, running = 0;
  std::string reason;    // of the first pending task: "Resources"
  bool answered = true;  // else the controller is away, and nothing is known
};
SlurmTasks ask_tasks(const std::vector<std::string>& jobs);
void cancel_jobs(const std::vector<std::string>& jobs);
/// Cancels the tasks that no node has begun.
void cancel_pending(const std::vector<std::string>& jobs);

}  // namespace passnet::cluster
