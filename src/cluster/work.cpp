#include "cluster/work.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "base/file/paths.h"
#include "sandbox/process.h"

namespace passnet::cluster {

namespace {

using Seconds = std::chrono::duration<double>;

bool is_interrupted(const WorkOptions& options) { return options.interrupted != nullptr && *options.interrupted; }

std::vector<std::string> environment_of_this() {
  std::vector<std::string> variables;
  for (char** one = ::environ; one != nullptr && *one != nullptr; ++one) variables.emplace_back(*one);
  return variables;
}

Result<sandbox::Process> start(const WorkQueue& queue, const Claim& claim, const WorkOptions& options) {
  const fs::path work = queue.work_of(claim);
  std::error_code failed;
  fs::remove_all(work, failed);
  PASSNET_TRY_VOID(make_directories(work));
  const fs::path log = work / "log.txt";
  const UniqueFd output(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!output) return io_error("create", log.string(), errno);
  sandbox::SpawnOptions spawn;
  spawn.argv = {options.program.string()};
  spawn.argv.insert(spawn.argv.end(), queue.rules().command.begin(), queue.rules().command.end());
  for (std::string word : {claim.text, std::string("--out"), (work / "out").string()})
    spawn.argv.push_back(std::move(word));
  spawn.environment = environment_of_this();
  spawn.output_fd = output.get();
  return sandbox::Process::spawn(spawn);
}

/// How the command ended; none: it was killed, as the lease was lost or the user interrupts.
std::optional<sandbox::ExitStatus> wait_with_heartbeat(sandbox::Process& process, const WorkQueue& queue,
                                                       const Claim& claim, const WorkOptions& options) {
  const auto beat = Seconds(queue.rules().lease_s / 4);
  auto last = std::chrono::steady_clock::now();
  for (;;) {
    if (std::optional<sandbox::ExitStatus> ended = process.wait(std::chrono::milliseconds(200))) return ended;
    bool holds = true;
    if (std::chrono::steady_clock::now() - last >= beat) {
      holds = queue.renew(claim);
      last = std::chrono::steady_clock::now();
    }
    if (holds && !is_interrupted(options)) continue;
    process.kill();
    return std::nullopt;
  }
}

Outcome outcome_of(const sandbox::ExitStatus& status) {
  if (!status.exited || status.code == 4) return Outcome::Again;
  return status.code == 0 || status.code == 1 || status.code == 5 ? Outcome::Done : Outcome::Failed;
}

// Gives the item the place that its outcome asks for, and counts it.
Result<std::string> settle(WorkQueue& queue, const Claim& claim, const sandbox::ExitStatus& status, Worked& worked) {
  const Outcome outcome = outcome_of(status);
  PASSNET_TRY(const Settled settled, queue.settle(claim, outcome));
  if (outcome == Outcome::Done) {
    ++(settled.published ? worked.done : worked.lost);
    if (!settled.published) return std::string("done by another worker");
    return std::string(settled.held ? "done" : "done, after its lease had ended");
  }
  if (!settled.held) {
    ++worked.lost;
    return std::string("lost");
  }
  ++(outcome == Outcome::Again ? worked.again : worked.failed);
  const std::string ended = to_string(status);
  return outcome == Outcome::Again ? "another try: " + ended
                                   : fmt::format("failed: {}; {}/log.txt", ended, settled.work);
}

Result<void> work_on(WorkQueue& queue, const Claim& claim, const WorkOptions& options, const WorkHooks& hooks,
                     Worked& worked) {
  if (hooks.started) hooks.started(claim);
  std::string outcome = "done by another worker";
  // A worker that was lost between its last two renames has published the result.
  if (claim.has_result) {
    PASSNET_TRY(const Settled settled, queue.settle(claim, Outcome::Done));
    ++(settled.held ? worked.done : worked.lost);
  } else {
    PASSNET_TRY(sandbox::Process process, start(queue, claim, options));
    const std::optional<sandbox::ExitStatus> ended = wait_with_heartbeat(process, queue, claim, options);
    if (!ended && is_interrupted(options)) {
      PASSNET_TRY_VOID(queue.settle(claim, Outcome::Back));
      return resource_error("interrupted");
    }
    outcome = "lost: its lease had ended";
    if (!ended) ++worked.lost;
    if (ended) {
      PASSNET_TRY(outcome, settle(queue, claim, *ended, worked));
    }
  }
  if (hooks.finished) hooks.finished(claim, outcome);
  return {};
}

}  // namespace

Result<Worked> work(WorkQueue& queue, const WorkOptions& options, const WorkHooks& hooks) {
  Worked worked;
  using Clock = std::chrono::steady_clock;
  const double lease_s = queue.rules().lease_s;
  double poll_s = options.poll_s;
  for (Clock::time_point idle_since = Clock::now();;) {
    if (is_interrupted(options)) return resource_error("interrupted");
    PASSNET_TRY(const Turn turn, queue.next(options.wait));
    if (turn.claim) {
      PASSNET_TRY_VOID(work_on(queue, *turn.claim, options, hooks, worked));
      poll_s = options.poll_s;
      idle_since = Clock::now();
      continue;
    }
    if (turn.ended || (!options.wait && Clock::now() - idle_since > Seconds(kLeasesToWait * lease_s))) break;
    for (Seconds left(poll_s); left.count() > 0 && !is_interrupted(options); left -= Seconds(0.1))
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    poll_s = std::min({2 * poll_s, kLongestPollS, std::max(options.poll_s, lease_s / 4)});
  }
  return worked;
}

}  // namespace passnet::cluster
