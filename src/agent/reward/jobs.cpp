#include "agent/reward/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/chat/json_access.h"
#include "base/file/file.h"
#include "base/file/leftovers.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/random.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

constexpr const char* kLockFile = "jobs.lock";
constexpr size_t kNumberDigits = 12, kIdDigits = 32;
constexpr double kSweptEveryS = 1;
constexpr std::chrono::seconds kLongestSleep{
    10};  // of who waits for a job: those that wait too long are ended meanwhile

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool is_id(std::string_view text) {
  return text.size() == kIdDigits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Error over(const std::string& what) { return resource_error(what + ": ask again later").with_failure("limit"); }

/// Returns the text after the first line, which holds the facts of a job.
std::string without_facts(const std::string& text) {
  const size_t end = text.find('\n');
  return end == std::string::npos ? "" : text.substr(end + 1);
}

std::string error_json(const std::string& message) { return dump(Json{{"error", message}}); }

}  // namespace

const char* to_string(JobState state) {
  switch (state) {
    case JobState::Queued: return "queued";
    case JobState::Running: return "running";
    case JobState::Done: return "done";
    case JobState::Failed: return "failed";
    case JobState::Cancelled: return "cancelled";
  }
  return "";
}

JobQueue::JobQueue(fs::path directory, const JobLimits& limits, Clock clock, LineFile lock)
    : directory_(std::move(directory)), limits_(limits), clock_(std::move(clock)), lock_(std::move(lock)) {}

Result<std::unique_ptr<JobQueue>> JobQueue::open(const fs::path& directory, const JobLimits& limits, Clock clock) {
  PASSNET_TRY(LineFile lock, LineFile::open(directory / kLockFile, true));
  if (!clock) clock = &seconds_now;
  std::unique_ptr<JobQueue> queue(new JobQueue(directory, limits, std::move(clock), std::move(lock)));
  PASSNET_TRY_VOID(queue->load());
  return queue;
}

Result<void> JobQueue::load() {
  remove_leftovers(directory_);
  PASSNET_TRY(const std::vector<fs::path> files, list_directory(directory_));
  // "ID.done" comes before "ID.job".
  for (const fs::path& file : files) PASSNET_TRY_VOID(load_file(file));
  return {};
}

Result<void> JobQueue::load_file(const fs::path& file) {
  const std::string id = file.stem().string(), ending = file.extension().string();
  const bool is_result = ending == ".done";
  if (!is_id(id) || (!is_result && ending != ".job" && ending != ".once")) return {};
  if (ending == ".once" || (!is_result && jobs_.contains(id))) {
    ::unlink(file.c_str());
    return {};
  }
  PASSNET_TRY(const std::string text, read_beneath(directory_, file.filename(), FileKind::Lines));
  const size_t end = std::min(text.find('\n'), text.size());
  PASSNET_TRY(const Json facts, parse_json(std::string_view(text).substr(0, end), file.string()));
  uint64_t number = 0;
  std::from_chars(id.data(), id.data() + kNumberDigits, number, 16);
  number_ = std::max<uint64_t>(number_, number + 1);
  auto job = std::make_shared<Job>();
  job->id = id;
  job->client = text_of(member(facts, "client"));
  job->added = static_cast<double>(count_of(member(facts, "added")));
  job->bytes = text.size() - end;
  jobs_.emplace(id, job);
  if (is_result) {
    job->ended = static_cast<double>(count_of(member(facts, "ended")));
    job->state = text_of(member(facts, "state")) == to_string(JobState::Failed) ? JobState::Failed : JobState::Done;
    return {};
  }
  enqueue(job, false);
  return {};
}

Result<std::string> JobQueue::new_id() {
  PASSNET_TRY(const uint64_t high, random_number());
  PASSNET_TRY(const uint64_t low, random_number());
  return fmt::format("{:012x}{:016x}{:04x}", number_++ & 0xFFFFFFFFFFFF, high, low & 0xFFFF);
}

fs::path JobQueue::request_file(const Job& job) const { return directory_ / (job.id + (job.once ? ".once" : ".job")); }
fs::path JobQueue::result_file(const std::string& id) const { return directory_ / (id + ".done"); }

Result<void> JobQueue::write_job(const Job& job, const NewJob& made) const {
  Json facts{{"client", job.client}, {"added", static_cast<int64_t>(job.added)}};
  if (!made.result.empty()) {
    facts["ended"] = static_cast<int64_t>(job.added);
    return write_file(result_file(job.id), std::string_view(dump(facts) + "\n" + made.result));
  }
  return write_file(request_file(job), std::string_view(dump(facts) + "\n" + made.request));
}

Result<void> JobQueue::admit(const std::string& name, size_t jobs, size_t bytes) {
  Client& client = clients_[name];
  const double now = clock_();
  if (client.counted == 0) client.allowance = limits_.burst;
  client.allowance =
      std::min(limits_.burst, client.allowance + std::max(0.0, now - client.counted) * limits_.per_second);
  client.counted = now;
  const auto refuse = [&](const std::string& what, double most, double asked, double found) -> Error {
    ++counts_.refused;
    return over(fmt::format("{}: found {:.0f} and {:.0f} more, expected at most {:.0f}", what, found, asked, most));
  };
  const auto more = static_cast<double>(jobs), size = static_cast<double>(bytes);
  if (more > client.allowance) {
    ++counts_.refused;
    return over(
        fmt::format("jobs of this client: found {} at once, expected at most {:.0f} now, {:.0f} more each second", jobs,
                    std::max(0.0, client.allowance), limits_.per_second));
  }
  if (client.waiting.size() + jobs > limits_.waiting_per_client)
    return refuse("jobs of this client that wait", static_cast<double>(limits_.waiting_per_client), more,
                  static_cast<double>(client.waiting.size()));
  if (counts_.queued + jobs > limits_.waiting)
    return refuse("jobs that wait", static_cast<double>(limits_.waiting), more, static_cast<double>(counts_.queued));
  if (client.bytes + bytes > limits_.bytes_per_client)
    return refuse("bytes of this client that wait", static_cast<double>(limits_.bytes_per_client), size,
                  static_cast<double>(client.bytes));
  if (counts_.bytes + bytes > limits_.bytes)
    return refuse("bytes that wait", static_cast<double>(limits_.bytes), size, static_cast<double>(counts_.bytes));
  client.allowance -= more;
  return {};
}

Result<std::vector<std::string>> JobQueue::add(const std::string& client, const std::vector<NewJob>& made, bool once) {
  std::vector<std::shared_ptr<Job>> jobs;
  size_t bytes = 0;
  for (const NewJob& one : made) bytes += one.request.size();
  {
    const std::lock_guard lock(mutex_);
    sweep();
    PASSNET_TRY_VOID(admit(client, made.size(), bytes));
    for (const NewJob& one : made) {
      const std::shared_ptr<Job>& job = jobs.emplace_back(std::make_shared<Job>());
      PASSNET_TRY(job->id, new_id());
      job->client = client;
      job->bytes = one.request.size();
      job->once = once;
      job->added = clock_();
    }
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Result<void> written = write_job(*jobs[i], made[i]);
    if (written) continue;
    for (size_t k = 0; k < i; ++k)
      ::unlink((made[k].result.empty() ? request_file(*jobs[k]) : result_file(jobs[k]->id)).c_str());
    return written.error();
  }
  std::vector<std::string> ids;
  const std::lock_guard lock(mutex_);
  counts_.added += jobs.size();
  for (size_t i = 0; i < jobs.size(); ++i) {
    ids.push_back(jobs[i]->id);
    jobs_.emplace(jobs[i]->id, jobs[i]);
    if (made[i].result.empty()) {
      enqueue(jobs[i], false);
      continue;
    }
    jobs[i]->state = JobState::Done;
    jobs[i]->ended = jobs[i]->added;
    ++counts_.done;
  }
  changed_.notify_all();
  return ids;
}

void JobQueue::enqueue(const std::shared_ptr<Job>& job, bool first) {
  Client& client = clients_[job->client];
  if (client.waiting.empty()) turns_.push_back(job->client);
  client.waiting.insert(first ? client.waiting.begin() : client.waiting.end(), job);
  client.bytes += job->bytes;
  counts_.bytes += job->bytes;
  ++counts_.queued;
  job->state = JobState::Queued;
}

/// No longer waits; its client may have no turn then.
void JobQueue::leave(const Job& job) {
  Client& client = clients_[job.client];
  client.bytes -= job.bytes;
  counts_.bytes -= job.bytes;
  --counts_.queued;
  if (client.waiting.empty()) std::erase(turns_, job.client);
}

std::shared_ptr<Job> JobQueue::next() {
  const std::string name = turns_.front();
  turns_.pop_front();
  turns_.push_back(name);
  std::deque<std::shared_ptr<Job>>& waiting = clients_[name].waiting;
  std::shared_ptr<Job> job = std::move(waiting.front());
  waiting.pop_front();
  leave(*job);
  job->state = JobState::Running;
  ++counts_.running;
  return job;
}

std::optional<BegunJob> JobQueue::take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    sweep();
    if (turns_.empty()) {
      changed_.wait_for(lock, stop, kLongestSleep, [&] { return !turns_.empty(); });
      continue;
    }
    const std::shared_ptr<Job> job = next();
    lock.unlock();
    Result<std::string> text = read_beneath(directory_, request_file(*job).filename(), FileKind::Lines);
    if (text) return BegunJob{job, without_facts(*text)};
    end(*job, JobState::Failed, error_json(to_string(text.error())));
    lock.lock();
  }
  return std::nullopt;
}

void JobQueue::finish(Job& job, JobState state, const std::string& result) {
  job.ended = clock_();
  job.state = state;
  ++(state == JobState::Done ? counts_.done : state == JobState::Failed ? counts_.failed : counts_.cancelled);
  if (state != JobState::Cancelled) {
    const Json facts{{"client", job.client},
                     {"added", static_cast<int64_t>(job.added)},
                     {"ended", static_cast<int64_t>(job.ended)},
                     {"state", to_string(state)}};
    const Result<void> written = write_file(result_file(job.id), std::string_view(dump(facts) + "\n" + result));
    // The request stays, and is evaluated again after a restart.
    if (!written) return;
  }
  ::unlink(request_file(job).c_str());
}

void JobQueue::end(Job& job, JobState state, const std::string& result) {
  const std::lock_guard lock(mutex_);
  --counts_.running;
  finish(job, job.is_cancelled ? JobState::Cancelled : state, result);
}

void JobQueue::give_back(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  --counts_.running;
  if (job->is_cancelled) return finish(*job, JobState::Cancelled, {});
  enqueue(job, true);
  changed_.notify_one();
}

bool JobQueue::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return false;
  Job& job = *found->second;
  if (job.state == JobState::Running) {
    job.is_cancelled = true;
  } else if (job.state == JobState::Queued) {
    std::erase(clients_[job.client].waiting, found->second);
    leave(job);
    finish(job, JobState::Cancelled, {});
  } else {
    ::unlink(result_file(id).c_str());
    jobs_.erase(found);
  }
  return true;
}

void JobQueue::sweep() {
  const double now = clock_();
  if (now - swept_ < kSweptEveryS && now >= swept_) return;
  swept_ = now;
  for (auto& [name, client] : clients_) {
    while (!client.waiting.empty() && now - client.waiting.front()->added > limits_.longest_wait_s) {
      const std::shared_ptr<Job> job = std::move(client.waiting.front());
      client.waiting.pop_front();
      leave(*job);
      finish(*job, JobState::Failed,
             error_json(fmt::format("the job waited {:.0f} s, expected at most {:.0f}", now - job->added,
                                    limits_.longest_wait_s)));
    }
  }
  std::erase_if(jobs_, [&](const auto& one) {
    const Job& job = *one.second;
    const bool is_over = job.state != JobState::Queued && job.state != JobState::Running;
    if (!is_over || now - job.ended <= limits_.kept_s) return false;
    ::unlink(result_file(job.id).c_str());
    return true;
  });
  std::erase_if(clients_, [&](const auto& one) {
    const Client& client = one.second;
    return client.waiting.empty() && (now - client.counted) * limits_.per_second >= limits_.burst;
  });
}

std::optional<JobState> JobQueue::state_of(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? std::nullopt : std::optional(found->second->state);
}

Result<std::string> JobQueue::result_of(const std::string& id) const {
  PASSNET_TRY(const std::string text, read_beneath(directory_, result_file(id).filename(), FileKind::Lines));
  return without_facts(text);
}

JobCounts JobQueue::counts() {
  const std::lock_guard lock(mutex_);
  JobCounts counts = counts_;
  counts.clients = turns_.size();
  return counts;
}

}  // namespace passnet::agent
