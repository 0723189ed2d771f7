// Jobs that wait for a slot, and their results, in a directory: a service that was killed goes on with them. Clients take
// turns. src/cluster/queue.h is for items without an order, which several machines work through.
//
//   DIR/ID.job     a line of facts, then the request. IDs sort by arrival and cannot be guessed
//   DIR/ID.once    the same for a client that waits for the answer: removed when the service starts
//   DIR/ID.done    a line of facts, then the result
//   DIR/jobs.lock  held by the one process that uses the directory
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/file/line_file.h"
#include "base/result.h"

namespace passnet::agent {

/// Limits on jobs that wait. "client": one name or address.
struct JobLimits {
  size_t waiting = 50'000, waiting_per_client = 20'000;
  size_t bytes = size_t{4} << 30, bytes_per_client = size_t{1} << 30;  // of requests
  double burst = 20'000, per_second = 200;  // jobs that a client may add at once, and steadily
  double longest_wait_s = 86'400;           // then a job fails
  double kept_s = 3'600;                    // results, from the end of the job
};

enum class JobState : uint8_t { Queued, Running, Done, Failed, Cancelled };
const char* to_string(JobState state);

struct Job {
  std::string id, client;
  size_t bytes = 0;                        // of its request
  bool once = false;                       // its client waits for the answer
  double added = 0;                        // seconds since 1970
  std::atomic<bool> is_cancelled = false;  // while it runs: the evaluation shall end
  // Under the queue's lock.
  JobState state = JobState::Queued;
  double ended = 0;
};

struct NewJob {
  std::string request;
  std::string result;  // not empty: the job is done
};

struct BegunJob {
  std::shared_ptr<Job> job;
  std::string request;
};

struct JobCounts {
  size_t queued = 0, running = 0, clients = 0, bytes = 0;                // now
  uint64_t added = 0, refused = 0, done = 0, failed = 0, cancelled = 0;  // since the start
};

class JobQueue {
 public:
  using Clock = std::function<double()>;  // seconds since 1970

  /// Makes the directory, or goes on with what is there: jobs that were running wait again, in their order.
  /// Errors: Resource: another process uses it; Io; BadInput at a file that is none of its own.
  static Result<std::unique_ptr<JobQueue>> open(const std::filesystem::path& directory, const JobLimits& limits = {},
                                                Clock clock = {});

  /// All of them or none. Returns: their IDs. Errors: Resource with failure "limit": a limit, which the message names; Io.
  Result<std::vector<std::string>> add(const std::string& client, const std::vector<NewJob>& jobs, bool once = false);
  /// The first job of the client whose turn it is. Waits for one. Returns: none when it is told to stop.
  std::optional<BegunJob> take(const std::stop_token& stop);
  /// Ends a job that runs; one that was cancelled stays so. result: JSON.
  void end(Job& job, JobState state, const std::string& result);
  /// Lets a job that runs wait again, before all others of its client.
  void give_back(const std::shared_ptr<Job>& job);
  /// Removes a job that waits, ends one that runs, forgets a result. Returns: false when there is no such job.
  bool cancel(const std::string& id);

  /// Returns: none when there is no such job, or its result is no longer kept.
  std::optional<JobState> state_of(const std::string& id);
  /// The result of a job that is done or has failed. Errors: Io.
  Result<std::string> result_of(const std::string& id) const;
  JobCounts counts();

 private:
  struct Client {
    std::deque<std::shared_ptr<Job>> waiting;
    size_t bytes = 0;
    double allowance = 0, counted = 0;  // jobs that it may add at the time `counted`
  };
  JobQueue(std::filesystem::path directory, const JobLimits& limits, Clock clock, LineFile lock);
  Result<void> load();
  Result<void> load_file(const std::filesystem::path& file);
  /// REQUIRES for all of these: the lock is held.
  Result<void> admit(const std::string& client, size_t jobs, size_t bytes);
  void enqueue(const std::shared_ptr<Job>& job, bool first);
  std::shared_ptr<Job> next();
  void leave(const Job& job);
  void sweep();
  void finish(Job& job, JobState state, const std::string& result);

  std::filesystem::path request_file(const Job& job) const;
  std::filesystem::path result_file(const std::string& id) const;
  Result<std::string> new_id();
  Result<void> write_job(const Job& job, const NewJob& made) const;

  const std::filesystem::path directory_;
  const JobLimits limits_;
  const Clock clock_;
  const LineFile lock_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // by ID
  std::map<std::string, Client> clients_;
  std::deque<std::string> turns_;  // clients with jobs that wait
  JobCounts counts_;
  std::atomic<uint64_t> number_ = 1;  // of the next job
  double swept_ = 0;
};

}  // namespace passnet::agent
