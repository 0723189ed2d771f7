#include "cluster/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>

#include "base/file/file.h"
#include "base/shard.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "sandbox/process.h"

namespace passnet::cluster {

namespace {

constexpr size_t kMostOfAnAnswer = size_t{16} << 20;

// One word for a shell.
std::string shell_word(const std::string& word) {
  std::string quoted_word = "'";
  for (const char c : word) quoted_word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted_word + "'";
}

std::optional<int> number_in(std::string_view text) { return parse_number<int>(trim(text)); }

struct Answer {
  int code = 0;
  std::string text;  // stdout and stderr
};

// Runs a program of Slurm. Errors: Resource: it cannot be started, or does not end.
Result<Answer> ask(const std::vector<std::string>& words) {
  sandbox::SpawnOptions spawn;
  spawn.argv = {"/usr/bin/env"};
  spawn.argv.insert(spawn.argv.end(), words.begin(), words.end());
  for (char** one = ::environ; one != nullptr && *one != nullptr; ++one) spawn.environment.emplace_back(*one);
  spawn.capture_output = true;
  PASSNET_TRY(sandbox::Process process, sandbox::Process::spawn(spawn));
  Answer answer;
  const std::optional<sandbox::ExitStatus> ended =
      process.wait_output(std::chrono::minutes(2), kMostOfAnAnswer, &answer.text);
  if (!ended) return resource_error(fmt::format("'{}' did not end within 2 minutes", words.front()));
  answer.code = ended->exited ? ended->code : 128 + ended->code;
  if (answer.code == 127)
    return resource_error(fmt::format("found no '{}', expected Slurm's commands in PATH", words.front()))
        .with_hint("run this where jobs are submitted; --dry-run needs no Slurm");
  return answer;
}

fs::path code_file(int task) { return fs::path("slurm") / fmt::format("{}.code", task); }

// "1-8,11"
std::string ranges_text(const std::vector<int>& numbers) {
  std::vector<std::string> ranges;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    ranges.push_back(end == i + 1 ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end - 1]));
    i = end;
  }
  return join(ranges, ",");
}

}  // namespace

bool is_pulling(const SlurmJob& job) { return !job.command.empty() && job.command.front() == "work"; }

fs::path shard_of(const SlurmJob& job, int task) { return job.out / "shards" / fmt::format("{}", task); }

std::optional<int> code_of(const SlurmJob& job, int task) {
  const Result<std::string> text = read_beneath(job.out, code_file(task), FileKind::Line);
  return text ? number_in(*text) : std::nullopt;
}

std::vector<int> unfinished_tasks(const SlurmJob& job) {
  std::vector<int> tasks;
  for (int task = 1; task <= job.tasks; ++task) {
    if (code_of(job, task).value_or(-1) > 1 || !code_of(job, task)) tasks.push_back(task);
  }
  return tasks;
}

std::string render_script(const SlurmJob& job) {
  std::vector<std::string> words{shell_word(job.program.string())};
  for (const std::string& word : job.command) words.push_back(shell_word(word));
  if (!is_pulling(job)) {
    words.push_back(fmt::format("--shard \"$task/{}\"", job.tasks));
    words.push_back(fmt::format("--out {}\"/$task\"", shell_word((job.out / "shards").string())));
    words.push_back("--resume");
  }
  std::string head = "#!/bin/bash\n#SBATCH --job-name=passnet\n";
  head += fmt::format("#SBATCH --output={}/slurm/%A_%a.log\n", job.out.string());
  if (job.requeue) head += "#SBATCH --requeue\n";
  for (const std::string& option : job.options) head += fmt::format("#SBATCH {}\n", option);
  const std::string code = shell_word((job.out / "slurm").string()) + "\"/$task.code\"";
  return head + fmt::format(
                    "task=$((SLURM_ARRAY_TASK_ID + ${{1:-0}}))\n"
                    "rm -f {0}\n"
                    "{1}\n"
                    "code=$?\n"
                    "echo $code >{0}\n"
                    "exit $code\n",
                    code, join(words, " "));
}

std::vector<SlurmArray> arrays_of(const std::vector<int>& tasks, int largest) {
  std::vector<SlurmArray> arrays;
  for (size_t i = 0; i < tasks.size();) {
    const int offset = (tasks[i] - 1) / largest * largest;
    std::vector<int> numbers;
    for (; i < tasks.size() && tasks[i] <= offset + largest; ++i) numbers.push_back(tasks[i] - offset);
    arrays.push_back({offset, ranges_text(numbers)});
  }
  return arrays;
}

std::vector<std::string> sbatch_arguments(const fs::path& script, const SlurmArray& array) {
  return {"sbatch", "--parsable", "--array=" + array.tasks, script.string(), fmt::format("{}", array.offset)};
}

Result<int> ask_largest_task() {
  PASSNET_TRY(const Answer answer, ask({"scontrol", "show", "config"}));
  const size_t found = answer.text.find("MaxArraySize");
  if (answer.code == 0 && found != answer.text.npos) {
    const std::string line = answer.text.substr(found, answer.text.find('\n', found) - found);
    const std::optional<int> size = number_in(std::string_view(line).substr(line.find('=') + 1));
    if (size && *size > 1) return *size - 1;
  }
  return resource_error(
      fmt::format("'scontrol show config': found {}, expected MaxArraySize", quoted(first_line(answer.text), 200)));
}

Result<std::string> submit_array(const fs::path& script, const SlurmArray& array) {
  PASSNET_TRY(const Answer answer, ask(sbatch_arguments(script, array)));
  for (const std::string_view line : split(answer.text, '\n')) {  // "17;CLUSTER", and what sbatch warns of
    const std::string_view job = trim(line.substr(0, line.find(';')));
    if (answer.code == 0 && number_in(job)) return std::string(job);
  }
  return resource_error(fmt::format("sbatch: exit code {}: {}", answer.code, quoted(first_line(answer.text), 200)));
}

SlurmTasks ask_tasks(const std::vector<std::string>& jobs) {
  SlurmTasks tasks;
  // One by one: squeue refuses a list of which one job is forgotten.
  for (const std::string& job : jobs) {
    const Result<Answer> answer = ask({"squeue", "--noheader", "--array", "--format=%T %r", "--jobs=" + job});
    if (!answer || (answer->code != 0 && answer->text.find("Invalid job id") == std::string::npos)) {
      tasks.answered = false;
      continue;
    }
    if (answer->code != 0) continue;  // all of it has ended
    for (const std::string_view line : split(answer->text, '\n')) {
      const std::string_view text = trim(line), state = text.substr(0, text.find(' '));
      if (state.empty()) continue;
      const bool is_pending = state == "PENDING" || state == "REQUEUED";
      if (is_pending && tasks.pending == 0) tasks.reason = trim(text.substr(state.size()));
      ++(is_pending ? tasks.pending : tasks.running);
    }
  }
  return tasks;
}

namespace {

void cancel(std::vector<std::string> words, const std::vector<std::string>& jobs) {
  words.insert(words.end(), jobs.begin(), jobs.end());
  const Result<Answer> ignored = ask(words);
}

}  // namespace

void cancel_jobs(const std::vector<std::string>& jobs) { cancel({"scancel"}, jobs); }

void cancel_pending(const std::vector<std::string>& jobs) { cancel({"scancel", "--state=PENDING"}, jobs); }

}  // namespace passnet::cluster
