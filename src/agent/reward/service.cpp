#include "agent/reward/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "agent/chat/json_access.h"
#include "agent/feedback/feedback.h"
#include "agent/reward/answer_files.h"
#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/file/replace.h"
#include "base/file/temporary_directory.h"
#include "base/place.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

constexpr const char* kListFile = "sorted_output_pass_rule_names.json";
/// Items of one request: more are an oversight.
constexpr size_t kMostItems = 4096;
/// A client may wait that long for a job with one request.
constexpr int kMostWaitS = 600;
/// Of the text of one answer's feedback.
constexpr int64_t kFeedbackTokens = 2000;

/// {"error", "hint"°}
Json error_json(const Error& error) {
  std::string text = error.message;
  if (error.at) text = to_string(*error.at) + ": " + text;
  for (const std::string& note : error.notes) text += ", " + note;
  Json json{{"error", std::move(text)}};
  if (!error.hint.empty()) json["hint"] = error.hint;
  return json;
}

http::Reply reply_of(int status, const Json& json) { return {status, dump(json) + "\n"}; }

http::Reply refusal(const Error& error) {
  const int status = error.failure == "limit" ? 429 : error.kind == Error::Kind::BadInput ? 400 : 503;
  return reply_of(status, error_json(error));
}

using Files = std::map<std::string, std::string>;

/// {"NAME": TEXT}; names of files alone.
Result<Files> read_files(const Json& json) {
  if (!json.is_object()) return bad_input(fmt::format("'files': expected an object, found {}", json.type_name()));
  if (json.empty()) {
    return bad_input("'files': found none, expected the text by name")
        .with_hint(fmt::format(R"({{"{}": "[]"}} leaves the graphs as they are)", kListFile));
  }
  Files files;
  for (const auto& [name, text] : json.items()) {
    if (name.size() > kLongestFileName)
      return bad_input(fmt::format("'files': {}: a name of {} bytes, expected at most {}", quoted(name, 40),
                                   name.size(), kLongestFileName));
    if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
      return bad_input(fmt::format("'files': {}, expected the name of a file in pass_dir", quoted(name)));
    if (!text.is_string()) return bad_input(fmt::format("'files': {}: expected a text", quoted(name)));
    files[name] = text.get<std::string>();
  }
  return files;
}

/// The files of an item. Errors: BadInput; BadPass: an answer without files.
Result<Files> files_asked(const Json& item) {
  if (item.contains("text") == item.contains("files"))
    return bad_input("expected 'text', an answer with fenced files, or 'files', the text by name");
  if (item.contains("files")) return read_files(item["files"]);
  if (!item["text"].is_string())
    return bad_input(fmt::format("'text': expected a text, found {}", item["text"].type_name()));
  return files_in_answer(item["text"].get<std::string>());
}

/// "detail" of an item. Returns: whether graphs are timed.
Result<bool> is_timed(const Json& item) {
  const std::string detail = item.contains("detail") ? plain_text(item["detail"]) : "score";
  if (detail == "score" || detail == "screen") return detail == "score";
  return bad_input(fmt::format("'detail': found {}, expected \"score\" or \"screen\"", quoted(detail)));
}

/// Whether the answer says that there is to be no pass.
bool is_empty_list(const Files& files) {
  const auto list = files.find(kListFile);
  return list != files.end() && try_parse_json(list->second) == Json::array();
}

/// A pass_dir with these files; where the list of passes is missing, all of them are in it, by name.
Result<void> write_passes(const fs::path& pass_dir, Files files) {
  if (!files.contains(kListFile)) {
    Json names = Json::array();
    for (const auto& [name, text] : files) {
      if (fs::path(name).extension() == ".py") names.push_back(fs::path(name).stem().string());
    }
    files[kListFile] = dump(names);
  }
  PASSNET_TRY_VOID(make_directories(pass_dir));
  for (const auto& [name, text] : files) PASSNET_TRY_VOID(write_file(pass_dir / name, text));
  return {};
}

Json rewarded(const std::string& task, double reward, const std::string& verdict, const std::string& feedback) {
  return {{"task", task}, {"reward", reward}, {"verdict", verdict}, {"feedback", valid_utf8(feedback)}};
}

/// Texts as they are wherever the files lie.
Json without_place(Json json, const std::string& place) {
  if (json.is_string()) return replace_all(json.get<std::string>(), place, "");
  for (Json& part : json) {
    if (part.is_string() || part.is_structured()) part = without_place(std::move(part), place);
  }
  return json;
}

/// The word for all graphs of a task together: "correct", "abstained", "unmeasured", or the verdict of the first that is
/// wrong. facts: feedback_facts(records).
std::string verdict_of(const Records& records, const Json& facts) {
  const Outcome outcome = outcome_of(records);
  if (outcome.unmeasured > 0) return "unmeasured";
  if (outcome.correct + outcome.abstained == outcome.graphs) return outcome.correct > 0 ? "correct" : "abstained";
  const auto is_fine = [](const record::RunRecord& one) {
    const Outcome alone = outcome_of({one});
    return alone.correct + alone.abstained == 1;
  };
  const auto wrong = std::ranges::find_if_not(records, is_fine) - records.begin();
  return facts["graphs"].at(static_cast<size_t>(wrong))["verdict"].get<std::string>();
}

/// Graphs whose outputs were compared and that were not timed.
Json untimed_in(const Records& records) {
  Json names = Json::array();
  for (const record::RunRecord& one : records) {
    const bool compared = one.stage == record::Stage::Done && one.outputs_counted;
    if (compared && one.reference.trials_us.empty() && !one.disturbed) names.push_back(one.graph);
  }
  return names;
}

/// A result as it was kept.
Json object_in(const std::string& result) {
  Json json = try_parse_json(result);
  return json.is_object() ? std::move(json) : error_json(resource_error("the result cannot be read"));
}

bool is_over(std::optional<JobState> state) {
  return state && *state != JobState::Queued && *state != JobState::Running;
}

/// "wait=30" of a query, in seconds. Errors: BadInput.
Result<std::chrono::seconds> wait_asked(const std::string& query) {
  if (query.empty()) return std::chrono::seconds(0);
  constexpr std::string_view kName = "wait=";
  const std::optional<int> seconds =
      query.starts_with(kName) ? parse_number<int>(std::string_view(query).substr(kName.size())) : std::nullopt;
  if (seconds && *seconds >= 0 && *seconds <= kMostWaitS) return std::chrono::seconds(*seconds);
  return bad_input(fmt::format("found {}, expected wait=SECONDS, 0 to {}", quoted(query), kMostWaitS));
}

}  // namespace

RewardService::RewardService(std::vector<RewardTask> tasks, RewardServices services, JobQueue& queue)
    : tasks_(std::move(tasks)), services_(std::move(services)), queue_(queue) {
  for (int i = 0; i < services_.at_once; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

const graphdir::Sample* RewardService::find(const std::string& task) const {
  const auto found = std::ranges::find(tasks_, task, [](const RewardTask& one) { return one.sample.name; });
  return found == tasks_.end() ? nullptr : &found->sample;
}

Result<NewJob> RewardService::prepare(const Json& item) const {
  if (!item.is_object()) return bad_input(fmt::format("expected an object with 'task', found {}", item.type_name()));
  const std::string name = plain_text(item.value("task", Json("")));
  if (find(name) == nullptr)
    return bad_input(fmt::format("no task {}", quoted(name))).with_hint("GET /tasks lists those that are served");
  PASSNET_TRY(const bool timed, is_timed(item));
  Result<Files> files = files_asked(item);
  if (!files && files.error().kind == Error::Kind::BadPass)
    return NewJob{{}, dump(rewarded(name, kNoAnswer, "no-files", files.error().message))};
  if (!files) return std::move(files).error();
  if (is_empty_list(*files))
    return NewJob{{}, dump(rewarded(name, 1, "abstained", "no pass: the graphs are left as they are"))};
  return NewJob{dump(Json{{"task", name}, {"detail", timed ? "score" : "screen"}, {"files", std::move(*files)}}), {}};
}

Result<std::vector<NewJob>> RewardService::prepare_all(const Json& items) const {
  if (!items.is_array() || items.size() > kMostItems)
    return bad_input(fmt::format("expected {{\"items\": […]}}, a list of at most {}", kMostItems));
  std::vector<NewJob> jobs;
  for (const Json& item : items) {
    Result<NewJob> job = prepare(item);
    if (!job) return std::move(job).error().with_note(fmt::format("in item {}", jobs.size()));
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

Result<Json> RewardService::judge(const std::string& request, const std::function<bool()>& is_spent) {
  PASSNET_TRY(const Json item, parse_json(request, "the job"));
  const std::string name = plain_text(member(item, "task"));
  const graphdir::Sample* const sample = find(name);
  if (sample == nullptr)
    return bad_input(fmt::format("no task {}", quoted(name))).with_hint("the service was started with other samples");
  PASSNET_TRY(const bool timed, is_timed(item));
  PASSNET_TRY(Files files, read_files(member(item, "files")));
  PASSNET_TRY(const TemporaryDirectory place, TemporaryDirectory::make("passnet-reward-"));
  PASSNET_TRY_VOID(write_passes(place.path() / kPassDir, std::move(files)));
  PASSNET_TRY(const Records records, services_.evaluate(task_of(*sample, Workspace(place.path())), timed, is_spent));
  const Json facts = feedback_facts(records);
  const std::string verdict = verdict_of(records, facts);
  {
    const std::lock_guard lock(mutex_);
    ++judged_.verdicts[verdict];
    judged_.graphs += records.size();
  }
  Json result = rewarded(name, outcome_of(records).score, verdict, render_feedback(records, kFeedbackTokens));
  result["detail"] = timed ? "score" : "screen";
  result["untimed"] = untimed_in(records);
  result.update(facts);
  return without_place(std::move(result), place.path().string() + "/");
}

void RewardService::work(const std::stop_token& stop) {
  const auto is_ending = [&] { return services_.is_ending && services_.is_ending(); };
  while (!is_ending()) {
    const std::optional<BegunJob> begun = queue_.take(stop);
    if (!begun) return;
    const auto begin = std::chrono::steady_clock::now();
    const Result<Json> result = judge(begun->request, [&] { return begun->job->is_cancelled.load(); });
    {
      const std::lock_guard lock(mutex_);
      judged_.busy_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    if (result)
      queue_.end(*begun->job, JobState::Done, dump(*result));
    else if (is_ending())
      queue_.give_back(begun->job);
    else
      queue_.end(*begun->job, JobState::Failed, dump(error_json(result.error())));
  }
}

/// The answer to a request whose client waits for all of its jobs.
http::Reply RewardService::answer_when_done(std::vector<NewJob> jobs, const std::string& client, bool several) {
  std::vector<NewJob> open;
  for (const NewJob& job : jobs) {
    if (job.result.empty()) open.push_back(job);
  }
  Result<std::vector<std::string>> ids = std::vector<std::string>();
  if (!open.empty()) ids = queue_.add(client, open, true);
  if (!ids) return refusal(ids.error());
  auto results = std::make_shared<std::vector<std::string>>();  // of each item; empty: of the next job
  for (NewJob& job : jobs) results->push_back(std::move(job.result));
  auto answered = [this, results, ids = std::move(*ids), next = size_t{0}, item = size_t{0},
                   several]() mutable -> std::optional<http::Reply> {
    for (; item < results->size(); ++item) {
      std::string& result = (*results)[item];
      if (!result.empty()) continue;
      const std::optional<JobState> state = queue_.state_of(ids[next]);
      if (state && !is_over(state)) return std::nullopt;
      Result<std::string> found = state && *state != JobState::Cancelled
                                      ? queue_.result_of(ids[next])
                                      : Result<std::string>(resource_error("the job was cancelled"));
      if (!found || *state == JobState::Failed) {
        for (; next < ids.size(); ++next) queue_.cancel(ids[next]);
        Json error = found ? object_in(*found) : error_json(found.error());
        if (several) error["error"] = fmt::format("{}, in item {}", text_of(member(error, "error")), item);
        return reply_of(503, error);
      }
      result = std::move(*found);
      queue_.cancel(ids[next++]);
    }
    std::string body = several ? "{\"results\":[" : "";
    for (const std::string& result : *results) body += (&result == results->data() ? "" : ",") + result;
    return http::Reply{200, body + (several ? "]}\n" : "\n")};
  };
  if (std::optional<http::Reply> reply = answered()) return std::move(*reply);
  http::Reply later;
  later.later = std::move(answered);
  return later;
}

http::Reply RewardService::answer(const http::ServerRequest& request, bool several) {
  const Result<Json> body = parse_json(request.body, "the request");
  if (!body) return refusal(body.error());
  Result<std::vector<NewJob>> jobs = std::vector<NewJob>();
  if (several) {
    jobs = prepare_all(member(*body, "items"));
  } else if (Result<NewJob> job = prepare(*body)) {
    jobs->push_back(std::move(*job));
  } else {
    return refusal(job.error());
  }
  return jobs ? answer_when_done(std::move(*jobs), request.client, several) : refusal(jobs.error());
}

http::Reply RewardService::add_jobs(const http::ServerRequest& request) {
  const Result<Json> body = parse_json(request.body, "the request");
  if (!body) return refusal(body.error());
  const bool several = body->is_object() && body->contains("items");
  const Result<std::vector<NewJob>> jobs = prepare_all(several ? (*body)["items"] : Json::array({*body}));
  if (!jobs) return refusal(jobs.error());
  const Result<std::vector<std::string>> ids = queue_.add(request.client, *jobs);
  return ids ? reply_of(202, {{"ids", *ids}}) : refusal(ids.error());
}

std::optional<http::Reply> RewardService::told_of(const std::string& id, bool waits) {
  const std::optional<JobState> state = queue_.state_of(id);
  if (!state)
    return reply_of(404, error_json(bad_input(fmt::format("no job {}", quoted(id)))
                                        .with_hint("results are kept for an hour; POST /jobs adds jobs")));
  if (waits && !is_over(state)) return std::nullopt;
  Json told{{"id", id}, {"state", to_string(*state)}};
  if (*state == JobState::Done || *state == JobState::Failed) {
    const Result<std::string> result = queue_.result_of(id);
    if (!result) return refusal(result.error());
    if (*state == JobState::Done)
      told["result"] = object_in(*result);
    else
      told.update(object_in(*result));
  }
  return reply_of(200, told);
}

http::Reply RewardService::tell(const http::ServerRequest& request) {
  using Clock = std::chrono::steady_clock;
  const Result<std::chrono::seconds> wait = wait_asked(request.query);
  if (!wait) return refusal(wait.error());
  if (std::optional<http::Reply> told = told_of(request.rest, wait->count() > 0)) return std::move(*told);
  http::Reply later;
  later.later = [this, id = request.rest, end = Clock::now() + *wait] { return told_of(id, Clock::now() < end); };
  return later;
}

std::string RewardService::metrics() {
  const JobCounts jobs = queue_.counts();
  const std::lock_guard lock(mutex_);
  return render_reward_metrics(jobs, judged_, services_.at_once);
}

http::Reply RewardService::list_tasks() const {
  Json tasks = Json::array();
  for (const RewardTask& task : tasks_)
    tasks.push_back({{"task", task.sample.name}, {"graphs", task.sample.graph_names.size()}, {"prompt", task.prompt}});
  return reply_of(200, {{"tasks", std::move(tasks)}});
}

std::vector<http::Route> RewardService::routes() {
  using Method = http::Route::Method;
  return {
      {Method::Get, http::kHealthPath,
       [](const http::ServerRequest&) {
         return reply_of(200, {{"ok", true}});
       }},
      {Method::Get, "/metrics",
       [this](const http::ServerRequest&) {
         return http::Reply{200, metrics(), "text/plain; version=0.0.4"};
       }},
      {Method::Get, "/tasks", [this](const http::ServerRequest&) { return list_tasks(); }},
      {Method::Post, "/jobs", [this](const http::ServerRequest& request) { return add_jobs(request); }},
      {Method::Get, "/jobs/", [this](const http::ServerRequest& request) { return tell(request); }},
      {Method::Delete, "/jobs/",
       [this](const http::ServerRequest& request) {
         const bool found = queue_.cancel(request.rest);
         return found ? reply_of(200, {{"id", request.rest}, {"state", "cancelled"}}) : *told_of(request.rest, false);
       }},
      {Method::Post, "/reward", [this](const http::ServerRequest& request) { return answer(request, false); }},
      {Method::Post, "/rewards", [this](const http::ServerRequest& request) { return answer(request, true); }}};
}

}  // namespace passnet::agent
