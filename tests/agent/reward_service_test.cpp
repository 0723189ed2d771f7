#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "agent/reward/numbers.h"
#include "agent/reward/service.h"
#include "base/file/file.h"
#include "base/file/temporary_directory.h"
#include "tests/paths.h"

namespace passnet::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The service with one task; evaluating notes the files of the pass and finds that all graphs are left as they are.
class Rewards : public testing::Test {
 protected:
  Rewards()
      : service_({{*graphdir::load_sample(tests::source_dir() / "samples" / "phi3_swiglu"), "do it"}},
                 {[this](const auto& task, bool timed, const auto& is_spent) {
                   timed_ = timed;
                   while (held_ && !is_spent()) std::this_thread::yield();
                   return evaluate(task);
                 }},
                 *queue_) {}

  Result<Records> evaluate(const graphdir::Sample& task) {
    if (failure_) return *failure_;
    files_.clear();
    for (const auto& entry : fs::directory_iterator(task.pass_dir))
      files_[entry.path().filename()] = *read_file(entry.path(), FileKind::Lines);
    Records records;
    for (const std::string& graph : task.graph_names) {
      record::RunRecord& one = records.emplace_back();
      one.graph = graph;
      one.stage = record::Stage::Match;
      one.error_kind = "no-match";
      one.error = "in " + task.pass_dir.string() + "/a.py";
    }
    return records;
  }

  http::Reply ask(const std::string& path, const Json& body) { return ask_text(path, body.dump()); }
  http::Reply ask_text(const std::string& path, const std::string& body) {
    return ask_as(http::Route::Method::Post, path, {body});
  }
  http::Reply ask_as(http::Route::Method method, const std::string& path, const http::ServerRequest& request) {
    for (const http::Route& route : service_.routes()) {
      if (route.path == path && route.method == method) return there(route.answer(request));
    }
    ADD_FAILURE() << "no route " << path;
    return {};
  }
  static http::Reply there(http::Reply reply) {
    while (reply.later) {
      if (std::optional<http::Reply> now = reply.later()) return std::move(*now);
      std::this_thread::yield();
    }
    return reply;
  }
  Json get(const std::string& path, const std::string& rest = {}, const std::string& query = {}) {
    return try_parse_json(ask_as(http::Route::Method::Get, path, {{}, query, rest}).body);
  }

  std::optional<Error> failure_;
  std::map<std::string, std::string> files_;
  std::atomic<bool> timed_ = false, held_ = false;  // until it is cancelled
  Result<TemporaryDirectory> place_ = TemporaryDirectory::make("passnet-test-");
  std::unique_ptr<JobQueue> queue_ = std::move(*JobQueue::open(place_->path()));
  RewardService service_;
};

TEST_F(Rewards, ListTheirTasks) {
  EXPECT_EQ(get("/tasks").dump(), R"({"tasks":[{"task":"phi3_swiglu","graphs":6,"prompt":"do it"}]})");
  EXPECT_EQ(get("/healthz").dump(), R"({"ok":true})");
}

TEST_F(Rewards, OfJobsAreToldByTheirIds) {
  const http::Reply added = ask("/jobs", {{"items",
                                           {{{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}, {"detail", "screen"}},
                                            {{"task", "phi3_swiglu"}, {"text", "I can't."}}}}});
  EXPECT_EQ(added.status, 202);
  const Json ids = try_parse_json(added.body)["ids"];
  ASSERT_EQ(ids.size(), 2u);
  const Json told = get("/jobs/", ids[0], "wait=60");
  EXPECT_EQ(told["state"], "done");
  EXPECT_EQ(told["result"]["detail"], "screen");
  EXPECT_EQ(told["result"]["untimed"], Json::array());
  EXPECT_FALSE(timed_);
  EXPECT_EQ(get("/jobs/", ids[1])["result"]["verdict"], "no-files");
  EXPECT_EQ(try_parse_json(ask("/jobs", {{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}}).body)["ids"].size(), 1u);
}

TEST_F(Rewards, OfAJobAreForgottenWhenItIsDeleted) {
  const Json ids = try_parse_json(ask("/jobs", {{"task", "phi3_swiglu"}, {"text", "I can't."}}).body)["ids"];
  const http::ServerRequest one{{}, {}, ids[0]};
  EXPECT_EQ(ask_as(http::Route::Method::Delete, "/jobs/", one).status, 200);
  EXPECT_EQ(ask_as(http::Route::Method::Delete, "/jobs/", one).status, 404);
  EXPECT_EQ(ask_as(http::Route::Method::Get, "/jobs/", one).status, 404);
}

TEST_F(Rewards, AreNoneOfAJobThatIsCancelled) {
  held_ = true;
  const Json request{{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}};
  for (const http::Route& route : service_.routes()) {
    if (route.path != "/reward") continue;
    http::Reply reply = route.answer({request.dump()});
    for (const auto& entry : fs::directory_iterator(place_->path())) {
      if (entry.path().extension() != ".once") continue;
      EXPECT_TRUE(queue_->cancel(entry.path().stem()));
    }
    reply = there(std::move(reply));
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.body, "{\"error\":\"the job was cancelled\"}\n");
  }
}

TEST_F(Rewards, SayThatAResultCannotBeRead) {
  const Json ids = try_parse_json(ask("/jobs", {{"task", "phi3_swiglu"}, {"text", "I can't."}}).body)["ids"];
  ASSERT_TRUE(write_file(place_->path() / (ids[0].get<std::string>() + ".done"), std::string_view("{}\n{")));
  EXPECT_EQ(get("/jobs/", ids[0])["result"]["error"], "the result cannot be read");
}

TEST_F(Rewards, SayWhatIsWrongWithAJob) {
  EXPECT_EQ(get("/jobs/", "x", "wait=soon")["error"], "found 'wait=soon', expected wait=SECONDS, 0 to 600");
  EXPECT_EQ(get("/jobs/", "x", "wait=601")["error"], "found 'wait=601', expected wait=SECONDS, 0 to 600");
  EXPECT_EQ(get("/jobs/", "x")["error"], "no job 'x'");
  const http::Reply refused = ask("/jobs", {{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}, {"detail", "all"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(try_parse_json(refused.body)["error"],
            "'detail': found 'all', expected \"score\" or \"screen\", in item 0");
}

TEST_F(Rewards, TellOfAJobThatTheMachineFailed) {
  failure_ = resource_error("no memory");
  const Json ids = try_parse_json(ask("/jobs", {{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}}).body)["ids"];
  const Json told = get("/jobs/", ids[0], "wait=60");
  EXPECT_EQ(told["state"], "failed");
  EXPECT_EQ(told["error"], "no memory");
}

TEST_F(Rewards, AreCountedForPrometheus) {
  ask("/reward", {{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}});
  const std::string text = ask_as(http::Route::Method::Get, "/metrics", {}).body;
  EXPECT_THAT(text, HasSubstr("# TYPE passnet_reward_jobs_queued gauge\npassnet_reward_jobs_queued 0\n"));
  EXPECT_THAT(text, HasSubstr("\npassnet_reward_jobs_ended_total{state=\"done\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\npassnet_reward_verdicts_total{verdict=\"abstained\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\npassnet_reward_graphs_total 6\n"));
}

TEST_F(Rewards, EvaluateTheFilesOfAnAnswer) {
  const http::Reply reply = ask("/reward", {{"task", "phi3_swiglu"}, {"text", "a.py\n```\nx\n```\n"}});
  EXPECT_EQ(reply.status, 200);
  const Json told = try_parse_json(reply.body);
  EXPECT_EQ(told["reward"], 1);
  EXPECT_EQ(told["verdict"], "abstained");
  EXPECT_EQ(told["graphs"].size(), 6u);
  EXPECT_THAT(told["feedback"].get<std::string>(), HasSubstr("in pass_dir/a.py"));
  EXPECT_EQ(files_,
            (std::map<std::string, std::string>{{"a.py", "x\n"}, {"sorted_output_pass_rule_names.json", "[\"a\"]"}}));
}

TEST_F(Rewards, OfNoPassAreThoseOfDoingNothing) {
  const Json told = try_parse_json(
      ask("/reward", {{"task", "phi3_swiglu"}, {"files", {{"sorted_output_pass_rule_names.json", "[]"}}}}).body);
  EXPECT_EQ(told["reward"], 1);
  EXPECT_EQ(told["verdict"], "abstained");
  EXPECT_TRUE(files_.empty());
}

TEST_F(Rewards, KeepTheListOfPassesThatIsGiven) {
  ask("/reward",
      {{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}, {"sorted_output_pass_rule_names.json", "[\"b\"]"}}}});
  EXPECT_EQ(files_.at("sorted_output_pass_rule_names.json"), "[\"b\"]");
}

TEST_F(Rewards, AreLowWithoutFiles) {
  const Json told = try_parse_json(
      ask("/rewards", {{"items", {{{"task", "phi3_swiglu"}, {"text", "I can't."}}}}}).body)["results"][0];
  EXPECT_EQ(told["reward"], kNoAnswer);
  EXPECT_EQ(told["verdict"], "no-files");
}

TEST_F(Rewards, SayWhatIsWrongWithARequest) {
  const auto refused = [&](const std::string& body, const std::string& path = "/reward") {
    const http::Reply reply = ask_text(path, body);
    EXPECT_EQ(reply.status, 400);
    return try_parse_json(reply.body)["error"].get<std::string>();
  };
  EXPECT_THAT(refused("{"), HasSubstr("not valid JSON"));
  EXPECT_EQ(refused("[]"), "expected an object with 'task', found array");
  EXPECT_THAT(refused(R"({"task": "x", "text": ""})"), HasSubstr("no task 'x'"));
  EXPECT_EQ(refused(R"({"task": "phi3_swiglu"})"),
            "expected 'text', an answer with fenced files, or 'files', the text by name");
  EXPECT_EQ(refused(R"({"task": "phi3_swiglu", "text": 1})"), "'text': expected a text, found number");
  EXPECT_EQ(refused(R"({"task": "phi3_swiglu", "files": {"../a.py": ""}})"),
            "'files': '../a.py', expected the name of a file in pass_dir");
  const Json none = try_parse_json(ask_text("/reward", R"({"task": "phi3_swiglu", "files": {}})").body);
  EXPECT_EQ(none, (Json{{"error", "'files': found none, expected the text by name"},
                        {"hint", R"({"sorted_output_pass_rule_names.json": "[]"} leaves the graphs as they are)"}}));
  EXPECT_THAT(refused(Json{{"task", "phi3_swiglu"}, {"files", {{std::string(300, 'x'), ""}}}}.dump()),
              HasSubstr("a name of 300 bytes, expected at most 200"));
  EXPECT_EQ(refused(R"({"items": 1})", "/rewards"), R"(expected {"items": […]}, a list of at most 4096)");
  EXPECT_EQ(refused(R"({"items": [7]})", "/rewards"), "expected an object with 'task', found number, in item 0");
}

TEST_F(Rewards, AreNoneWhereTheMachineFails) {
  failure_ = resource_error("no memory");
  EXPECT_EQ(ask("/reward", {{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}}).status, 503);
}

TEST_F(Rewards, NameThePlaceOfAnError) {
  const auto told = [&](SourceLoc at) {
    failure_ = bad_input("no records", std::move(at)).with_note("while reading it");
    const http::Reply reply = ask("/reward", {{"task", "phi3_swiglu"}, {"files", {{"a.py", "x"}}}});
    return try_parse_json(reply.body)["error"].get<std::string>();
  };
  EXPECT_EQ(told({"input_meta.py", 0, 0}), "input_meta.py: no records, while reading it");
  EXPECT_EQ(told({"input_meta.py", 3, 7}), "input_meta.py:3:7: no records, while reading it");
}

TEST(RewardNumbers, OfGraphsLeftAloneAreOneAndNothingElse) {
  Records records(2);
  for (record::RunRecord& one : records) {
    one.stage = record::Stage::Match;
    one.error_kind = "no-match";
  }
  const Result<Json> numbers = reward_numbers(records);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->dump(), R"({"reward":1.0,"score":1.0,"correct":0.0,"coverage":0.0,"fast_1":0.0})");
}

TEST(RewardNumbers, AreNoneWhereTheMachineFailed) {
  Records records(2);
  records[0].stage = record::Stage::Match;
  records[0].error_kind = "no-match";
  records[1].error_kind = "resource";
  const Result<Json> numbers = reward_numbers(records);
  ASSERT_FALSE(numbers);
  EXPECT_EQ(numbers.error().message, "1 of 2 graphs could not be measured, expected a time of each");
  EXPECT_EQ(numbers.error().hint, "other programs disturb this machine: try again when it is idle");
}

}  // namespace
}  // namespace passnet::agent
