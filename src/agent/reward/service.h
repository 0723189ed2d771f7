// Rewards of passes for trainers: an answer of a model in, its reward and verdict out, at once or as a job.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "agent/reward/jobs.h"
#include "agent/reward/metrics.h"
#include "agent/tools/tool.h"
#include "graphdir/sample.h"
#include "http/server.h"

namespace passnet::agent {

/// A task that answers may be for.
struct RewardTask {
  graphdir::Sample sample;
  std::string prompt;  // what a model is told of it
};

struct RewardServices {
  /// timed: else graphs are only checked. is_spent: the job was cancelled; ends the evaluation. Called by several threads.
  /// Errors: Resource: the machine's, or interrupted.
  std::function<Result<Records>(const graphdir::Sample& task, bool timed, const std::function<bool()>& is_spent)>
      evaluate;
  int at_once = 1;                       // that many do not wait for each other
  std::function<bool()> is_ending = {};  // the service: what is interrupted then waits for the next start
};

class RewardService {
 public:
  /// Names of tasks differ. queue: must outlive this.
  RewardService(std::vector<RewardTask> tasks, RewardServices services, JobQueue& queue);

  /// GET /healthz, /metrics, /tasks, POST /reward, /rewards, /jobs, GET and DELETE /jobs/ID (docs/agent.md). They must not
  /// outlive this.
  std::vector<http::Route> routes();

 private:
  const graphdir::Sample* find(const std::string& task) const;
  /// A checked item; with its result where nothing is to be evaluated. Errors: BadInput.
  Result<NewJob> prepare(const Json& item) const;
  /// Errors: the first, with the number of its item.
  Result<std::vector<NewJob>> prepare_all(const Json& items) const;
  Result<Json> judge(const std::string& request, const std::function<bool()>& is_spent);
  void work(const std::stop_token& stop);

  http::Reply answer(const http::ServerRequest& request, bool several);
  http::Reply answer_when_done(std::vector<NewJob> jobs, const std::string& client, bool several);
  http::Reply add_jobs(const http::ServerRequest& request);
  http::Reply tell(const http::ServerRequest& request);
  /// Returns the reply about a job; waits: none while the job is not over.
  std::optional<http::Reply> told_of(const std::string& id, bool waits);
  http::Reply list_tasks() const;
  std::string metrics();

  const std::vector<RewardTask> tasks_;
  const RewardServices services_;
  JobQueue& queue_;
  std::mutex mutex_;
  RewardsJudged judged_;
  std::vector<std::jthread> threads_;  // the last member: they use the others
};

/// Reward of an answer without a file: that of a pass that is wrong everywhere.
inline constexpr double kNoAnswer = 0.1;

}  // namespace passnet::agent
