#include "agent/reward/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/chat/json_access.h"
#include "agent/feedback/feedback.h"
#include "agent/reward/answer_files.h"
#include "base/file/file.h"
#include "base/file/replace.h"
#include "base/file/temporary_directory.h"
#include "base/place.h"
#include "base/text/strings.h"
#include "graphdir/graph_tree.h"

namespace passnet::agent {

namespace {

namespace fs = std::filesystem;
constexpr const char* kListFile = "sorted_output_pass_rule_names.json";
/// Items of one request: more are an oversight.
constexpr size_t kMostItems = 4096;
/// Of the text of one answer's feedback.
constexpr int64_t kFeedbackTokens = 2000;

HttpReply refusal(int status, const Error& error) {
  std::string text = error.message;
  if (error.at) text = to_string(*error.at) + ": " + text;
  for (const std::string& note : error.notes) text += ", " + note;
  Json json{{"error", std::move(text)}};
  if (!error.hint.empty()) json["hint"] = error.hint;
  return {status, dump(json) + "\n"};
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
  std::error_code failed;
  fs::create_directories(pass_dir, failed);
  if (failed) return io_error("cannot make", pass_dir.string(), failed.value());
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

}  // namespace

RewardService::RewardService(std::vector<RewardTask> tasks, RewardServices services)
    : tasks_(std::move(tasks)), services_(std::move(services)) {}

const graphdir::Sample* RewardService::find(const std::string& task) const {
  const auto found = std::ranges::find(tasks_, task, [](const RewardTask& one) { return one.sample.name; });
  return found == tasks_.end() ? nullptr : &found->sample;
}

Result<Json> RewardService::judge(const Json& item) const {
  if (!item.is_object()) return bad_input(fmt::format("expected an object with 'task', found {}", item.type_name()));
  const std::string name = plain_text(item.value("task", Json("")));
  const graphdir::Sample* const sample = find(name);
  if (sample == nullptr)
    return bad_input(fmt::format("no task {}", quoted(name))).with_hint("GET /tasks lists those that are served");
  Result<Files> files = files_asked(item);
  if (!files && files.error().kind == Error::Kind::BadPass)
    return rewarded(name, kNoAnswer, "no-files", files.error().message);
  if (!files) return std::move(files).error();
  if (is_empty_list(*files)) return rewarded(name, 1, "abstained", "no pass: the graphs are left as they are");
  PASSNET_TRY(const TemporaryDirectory place, TemporaryDirectory::make("passnet-reward-"));
  PASSNET_TRY_VOID(write_passes(place.path() / kPassDir, std::move(*files)));
  PASSNET_TRY(const Records records, services_.evaluate(task_of(*sample, Workspace(place.path()))));
  const Json facts = feedback_facts(records);
  Json result =
      rewarded(name, outcome_of(records).score, verdict_of(records, facts), render_feedback(records, kFeedbackTokens));
  result.update(facts);
  return without_place(std::move(result), place.path().string() + "/");
}

Result<Json> RewardService::judge_all(const Json& items) const {
  Json results = Json::array();
  size_t next = 0;
  PASSNET_TRY_VOID(graphdir::map_until_error(
      [&]() -> std::optional<size_t> { return next < items.size() ? std::optional(next++) : std::nullopt; },
      [&](size_t i) -> Result<Json> {
        Result<Json> result = judge(items[i]);
        if (!result) return std::move(result).error().with_note(fmt::format("in item {}", i));
        return result;
      },
      [&](Result<Json> result) -> Result<void> {
        if (!result) return std::move(result).error();
        results.push_back(std::move(*result));
        return {};
      },
      {services_.at_once}));
  return results;
}

HttpReply RewardService::answer(const std::string& body, bool several) const {
  const Result<Json> request = parse_json(body, "the request");
  if (!request) return refusal(400, request.error());
  const auto status = [](const Error& error) { return error.kind == Error::Kind::BadInput ? 400 : 503; };
  if (!several) {
    const Result<Json> result = judge(*request);
    return result ? HttpReply{200, dump(*result) + "\n"} : refusal(status(result.error()), result.error());
  }
  const Json& items = member(*request, "items");
  if (!items.is_array() || items.size() > kMostItems)
    return refusal(400, bad_input(fmt::format("expected {{\"items\": […]}}, a list of at most {}", kMostItems)));
  const Result<Json> results = judge_all(items);
  return results ? HttpReply{200, dump(Json{{"results", *results}}) + "\n"}
                 : refusal(status(results.error()), results.error());
}

std::vector<HttpRoute> RewardService::routes() const {
  using Method = HttpRoute::Method;
  return {{Method::Get, "/health",
           [](const std::string&) {
             return HttpReply{200, "{\"ok\":true}\n"};
           }},
          {Method::Get, "/tasks",
           [this](const std::string&) {
             Json tasks = Json::array();
             for (const RewardTask& task : tasks_)
               tasks.push_back(
                   {{"task", task.sample.name}, {"graphs", task.sample.graph_names.size()}, {"prompt", task.prompt}});
             return HttpReply{200, dump(Json{{"tasks", std::move(tasks)}}) + "\n"};
           }},
          {Method::Post, "/reward", [this](const std::string& body) { return answer(body, false); }},
          {Method::Post, "/rewards", [this](const std::string& body) { return answer(body, true); }}};
}

}  // namespace passnet::agent
