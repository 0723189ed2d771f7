// What is sent to the workers, and how often: an evaluation through scripted workers, as PASSNET_LOG=debug tells it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "fx/graph_text.h"
#include "graphdir/sample.h"
#include "record/input_kinds.h"
#include "record/verdict.h"
#include "run/apply/run_passes.h"
#include "run/evaluate/evaluate.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Before anything is logged: the level is read once.
const bool kTold = ::setenv("PASSNET_LOG", "debug", 1) == 0;

/// "R load", "C run": the requests in what was logged, in order; several times the same as "R time x20".
std::vector<std::string> requests_in(const std::string& log) {
  std::vector<std::pair<std::string, int>> requests;
  for (const std::string_view line : split(log, '\n')) {
    const size_t role = std::min(line.find("reference: "), line.find("candidate: "));
    const size_t took = line.find(" took ");
    if (role == std::string_view::npos || took == std::string_view::npos) continue;
    const std::string what = (line[role] == 'r' ? "R " : "C ") + std::string(line.substr(role + 11, took - role - 11));
    if (!requests.empty() && requests.back().first == what)
      ++requests.back().second;
    else
      requests.emplace_back(what, 1);
  }
  std::vector<std::string> texts;
  for (const auto& [what, times] : requests) texts.push_back(times > 1 ? what + " x" + std::to_string(times) : what);
  return texts;
}

class Requests : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kTold);
    ::setenv("PASSNET_HOME", (scratch_.path / "home").c_str(), 1);
  }
  void TearDown() override {
    if (home_)
      ::setenv("PASSNET_HOME", home_->c_str(), 1);
    else
      ::unsetenv("PASSNET_HOME");
  }

  // The graph of gpt2_gelu under these names, evaluated; what was asked for is in requests_.
  std::vector<record::RunRecord> evaluate(const std::vector<std::string>& graphs, EvaluateOptions options = {}) {
    graphdir::Sample sample;
    sample.path = directory_;
    sample.name = "scripted";
    const fs::path original =
        graphdir::load_sample(tests::source_dir() / "samples/gpt2_gelu").value().graph_paths.at(0);
    fs::create_directories(directory_);
    for (const std::string& name : graphs) {
      sample.graph_names.push_back(name);
      sample.graph_paths.push_back(directory_ / name);
      fs::copy(original, directory_ / name, fs::copy_options::recursive);
    }
    options.compiler = "eager";
    options.threads = 1;
    options.worker = tests::binary_dir() / "bin/scripted_worker";
    std::vector<record::RunRecord> records;
    EvaluateHooks hooks;
    hooks.finished = [&](const record::RunRecord& record) -> Result<void> {
      records.push_back(record);
      return {};
    };
    testing::internal::CaptureStderr();
    const Result<void> done = evaluate_sample(sample, options, hooks);
    requests_ = requests_in(testing::internal::GetCapturedStderr());
    EXPECT_TRUE(done) << (done ? "" : to_string(done.error()));
    records.resize(graphs.size());
    return records;
  }

  // A graph of three operators rewritten by the first so many passes, which match one operator each.
  Result<Rewritten> rewrite(size_t passes, const std::string& graph_name = "plain", bool declines = false) {
    const char* const operators[] = {"relu", "tanh", "sigmoid"};
    std::vector<pass::Pass> loaded;
    for (size_t i = 0; i < passes; ++i) {
      const fs::path file = directory_ / (std::string(operators[i]) + "_pass.py");
      const std::string guard = declines ? "    if x.numel() == 8:\n        return NotImplemented\n" : "";
      PASSNET_TRY_VOID(write_file(
          file, "import torch\n\ndef pattern(x):\n    return torch." + std::string(operators[i]) +
                    "(x)\n\ndef replacement_args(x):\n    return (x,)\n\ndef plan(x):\n" + guard +
                    "    out = torch.empty(x.shape)\n    kernel[(1,)](x, out, x.stride(0))\n    return out\n\n"
                    "def replacement_func():\n    return plan\n"));
      PASSNET_TRY(pass::Pass pass, pass::load_pass(file));
      loaded.push_back(std::move(pass));
    }
    auto graph =
        fx::parse_text(fx::model_text("a", "b = torch.relu(a)\nc = torch.tanh(b)\nd = torch.sigmoid(c)\nreturn (d,)"));
    if (!graph) return graph.error();
    graph->file = (directory_ / graph_name / "model.py").string();
    Worker reference({tests::binary_dir() / "bin/scripted_worker", Role::Reference, 1, nullptr, {}});
    PASSNET_TRY_VOID(reference.start());
    PASSNET_TRY_VOID(load_graph(reference, "graph", *graph, {}, {}, 10s));
    testing::internal::CaptureStderr();
    Result<Rewritten> rewritten = rewrite_or_fail(reference, "graph", *graph, loaded, {10s}, outcomes_);
    requests_ = requests_in(testing::internal::GetCapturedStderr());
    return rewritten;
  }

  const std::optional<std::string> home_ =
      std::getenv("PASSNET_HOME") ? std::optional<std::string>(std::getenv("PASSNET_HOME")) : std::nullopt;
  const ScratchDirectory scratch_;
  const fs::path directory_ = scratch_.path / "sample";
  std::vector<std::string> requests_;
  std::vector<record::PassOutcome> outcomes_;
};

/// What is asked to judge values: at float64, on each input kind; then both sides have the recorded inputs again.
std::vector<std::string> judging() {
  std::vector<std::string> requests{"R load", "R judge"};
  for (size_t i = 0; i < record::kOtherInputKinds.size(); ++i)
    requests.insert(requests.end(), {"R inputs", "R run", "C set_inputs", "C run", "R judge"});
  requests.insert(requests.end(), {"R unload", "R set_inputs", "R run", "C set_inputs", "C run"});
  return requests;
}

std::vector<std::string> joined(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

TEST_F(Requests, OfACheckedGraph) {
  EvaluateOptions options;
  options.timed = false;
  const auto records = evaluate({"a", "b"}, options);
  EXPECT_EQ(records[1].stage, record::Stage::Done) << records[1].error;
  EXPECT_EQ(records[1].input_kinds.size(), 1 + record::kOtherInputKinds.size());
  const std::vector<std::string> ends{"R unload x2", "C unload x2"};
  // Each process is greeted once.
  const std::vector<std::string> first{"R hello", "R load",       "R inputs", "R run",    "C hello",
                                       "C load",  "C set_inputs", "C run",    "R compare"};
  const std::vector<std::string> second{"R load", "R inputs", "R run", "C load", "C set_inputs", "C run", "R compare"};
  EXPECT_EQ(requests_, joined({first, judging(), ends, second, judging(), ends}));
}

TEST_F(Requests, OfATimedGraphAlternateBetweenTheSides) {
  EvaluateOptions options;
  options.warmup = 2;
  options.trials = 2;
  const auto records = evaluate({"a"}, options);
  EXPECT_EQ(records[0].stage, record::Stage::Done) << records[0].error;
  EXPECT_EQ(records[0].reference.trials_us.size(), 2u);
  // A pair that the machine disturbed is timed again from its first side; the second is never timed twice in a row.
  const size_t first = 9 + judging().size();
  ASSERT_GE(requests_.size(), first + 6);
  EXPECT_EQ(requests_[first], "R time x2");  // to warm up: the first call tells how many more there are
  EXPECT_EQ(requests_[first + 1], "C time x2");
  EXPECT_EQ(requests_[first + 2], "R make_call_sets");
  EXPECT_EQ(requests_[first + 3], "C set_call_sets");
  EXPECT_EQ(requests_[first + 4], "R renew_call_sets");
  EXPECT_EQ(requests_[first + 5], "R time_on_sets");
  EXPECT_THAT(requests_, testing::Not(testing::Contains(HasSubstr("C time_on_sets x"))));
}

// Where memory holds the inputs of one call at a time there is a block for each trial, and no more.
TEST_F(Requests, OfATimedGraphThatFillsTheMemoryAddUpToTheTrials) {
  EvaluateOptions options;
  options.warmup = 0;
  options.trials = 23;
  const auto records = evaluate({"memory_holds_one_set"}, options);
  EXPECT_EQ(records[0].stage, record::Stage::Done) << records[0].error;
  EXPECT_EQ(records[0].reference.trials_us.size(), 23u);
  EXPECT_EQ(records[0].candidate.trials_us.size(), 23u);
}

TEST_F(Requests, EndWhereOneIsRefusedAndTheGraphIsForgotten) {
  struct Case {
    const char* graph;
    record::Stage stage;
    size_t requests;  // of the first graph, until it is forgotten
  };
  EvaluateOptions options;
  options.timed = false;
  for (const Case& one : {Case{"reference_fails_at_load", record::Stage::Parse, 2},
                          {"reference_fails_at_inputs", record::Stage::Inputs, 3},
                          {"reference_fails_at_run", record::Stage::Reference, 4},
                          {"candidate_fails_at_load", record::Stage::Load, 6},
                          {"candidate_fails_at_set_inputs", record::Stage::Load, 7},
                          {"candidate_fails_at_run", record::Stage::Run, 8},
                          {"reference_fails_at_compare", record::Stage::Compare, 9}}) {
    fs::remove_all(directory_);
    const auto records = evaluate({one.graph, "b"}, options);
    EXPECT_EQ(records[0].stage, one.stage) << one.graph;
    EXPECT_EQ(records[0].error_kind, "unsupported") << one.graph;
    EXPECT_EQ(records[0].error, "error: not today") << one.graph;
    EXPECT_EQ(records[1].stage, record::Stage::Done) << one.graph;
    const auto forgotten = std::find(requests_.begin(), requests_.end(), "R unload x2");
    EXPECT_EQ(static_cast<size_t>(forgotten - requests_.begin()), one.requests) << one.graph;
  }
}

TEST_F(Requests, FindAFreshWorkerAfterOneEnded) {
  EvaluateOptions options;
  options.timed = false;
  for (const char* graph :
       {"reference_ends_at_run", "candidate_ends_at_load", "candidate_ends_at_run", "reference_ends_at_compare"}) {
    fs::remove_all(directory_);
    const auto records = evaluate({graph, "b"}, options);
    EXPECT_EQ(records[0].error_kind, "crash") << graph;
    EXPECT_THAT(records[0].error, HasSubstr("exit code 9")) << graph;
    EXPECT_EQ(records[1].stage, record::Stage::Done) << graph << ": " << records[1].error;
  }
}

TEST_F(Requests, OfAFailureWhileTimingSayWhichSideFailed) {
  EvaluateOptions options;
  options.warmup = 1;
  options.trials = 1;
  for (const char* graph : {"reference_fails_at_time_on_sets", "candidate_fails_at_time_on_sets"}) {
    fs::remove_all(directory_);
    const auto records = evaluate({graph}, options);
    EXPECT_EQ(records[0].stage, record::Stage::Time) << graph;
    EXPECT_EQ(records[0].error, "error: not today") << graph;
    EXPECT_EQ(requests_.at(requests_.size() - 3), graph[0] == 'r' ? "R time_on_sets" : "C time_on_sets") << graph;
  }
}

TEST_F(Requests, TellAClockThatLiesByAClockOfOurOwn) {
  EvaluateOptions options;
  options.warmup = 0;
  options.trials = 2;
  for (const char* graph :
       {"reference_clock_lies", "reference_clock_boasts", "candidate_clock_lies", "device_clock_lies"}) {
    fs::remove_all(directory_);
    const auto records = evaluate({graph, "b"}, options);
    EXPECT_EQ(records[0].stage, record::Stage::Time) << graph;
    EXPECT_EQ(records[0].error_kind, "clock") << records[0].error;
    EXPECT_EQ(record::headline(records[0]), "time: bad times") << graph;
    const std::string name = graph;
    const std::string worker = name.starts_with("candidate") ? "candidate"
                               : name.starts_with("device")  ? "reference's GPU"
                                                             : "reference";
    EXPECT_THAT(records[0].error, HasSubstr("the clocks of the " + worker + " and of passnet differ")) << graph;
    EXPECT_TRUE(records[0].candidate.trials_us.empty()) << graph;
    EXPECT_EQ(records[1].stage, record::Stage::Done) << records[1].error;
  }
}

// The graph is traced once before the first pass, as it is loaded, and once after each pass that matched.
TEST_F(Requests, TraceOnceMoreThanPassesMatch) {
  for (const size_t passes : {size_t{1}, size_t{3}}) {
    const Result<Rewritten> rewritten = rewrite(passes);
    ASSERT_TRUE(rewritten) << to_string(rewritten.error());
    EXPECT_EQ(rewritten->sites(), static_cast<int>(passes));
    std::vector<std::string> expected{"R trace"};
    for (size_t i = 0; i < passes; ++i) expected.insert(expected.end(), {"R load", "R set_inputs", "R trace"});
    EXPECT_EQ(requests_, expected) << passes;
  }
}

TEST_F(Requests, TraceOnceWithoutAPassThatTakesASite) {
  const Result<Rewritten> none = rewrite(0);
  ASSERT_TRUE(none) << "who lists no pass leaves the graph as it is";
  EXPECT_EQ(none->sites(), 0);
  EXPECT_THAT(requests_, ElementsAre("R trace"));
  const Result<Rewritten> declined = rewrite(3, "plain", true);
  ASSERT_TRUE(declined) << to_string(declined.error());
  EXPECT_THAT(requests_, ElementsAre("R trace"));
}

// Strides that change at every trace: each round of plans evaluated again ends with a trace, four of them at most.
TEST_F(Requests, TraceAgainWhileStridesChange) {
  const Result<Rewritten> rewritten = rewrite(1, "turns");
  ASSERT_FALSE(rewritten);
  EXPECT_EQ(rewritten.error().kind, Error::Kind::Unsupported);
  EXPECT_EQ(std::count(requests_.begin(), requests_.end(), "R trace"), 2 + 4);
}

TEST_F(Requests, BlameTheGraphForItsOwnTraceAndThePassForThatOfTheRewrittenOne) {
  const Result<Rewritten> original = rewrite(1, "reference_fails_at_trace");
  ASSERT_FALSE(original);
  EXPECT_EQ(original.error().failure, "unsupported");
  EXPECT_THAT(requests_, ElementsAre("R trace"));
  const Result<Rewritten> rewritten = rewrite(1, "refuses_rewritten");
  ASSERT_FALSE(rewritten);
  EXPECT_EQ(rewritten.error().failure, "bad-rewrite");
  EXPECT_EQ(rewritten.error().message, "not that shape");
}

// Handing calls over takes longer than a short call does, so it is no part of any track.
TEST_F(Requests, HandAsManyCallsOverOnTheSameTensors) {
  EvaluateOptions options;
  options.trials = 40;
  const record::RunRecord record = evaluate({"hands_over"}, options).front();
  ASSERT_EQ(record.error, "");
  for (const record::Timing* side : {&record.reference, &record.candidate}) {
    EXPECT_THAT(side->trials_us, Each(24000.0));
    for (const record::TrackTimes& other : side->others) EXPECT_THAT(other.trials_us, Each(24000.0));
  }
}

// A kernel that takes seconds holds nobody up for an hour: 20 s of trials, at least five.
TEST_F(Requests, TimeFewCallsThatTakeLong) {
  const record::RunRecord record = evaluate({"takes_long"}, {}).front();
  ASSERT_EQ(record.error, "");
  EXPECT_EQ(record.candidate.warmup, 2);
  EXPECT_EQ(record.candidate.trials_us.size(), 10);
  EXPECT_EQ(record.reference.trials_us.size(), 10);
}

// The first sample's workers evaluate the second one as well, unless the candidate has loaded kernels of a pass.
TEST_F(Requests, OfSeveralSamplesGoToWorkersThatRanNoForeignCode) {
  EvaluateOptions options;
  options.threads = 1;
  options.worker = tests::binary_dir() / "bin/scripted_worker";
  EvaluationWorkers workers(options);
  ASSERT_TRUE(workers.begin_sample());
  const pid_t reference = workers.reference().pid(), candidate = workers.candidate().pid();
  ASSERT_TRUE(workers.begin_sample());
  EXPECT_EQ(workers.reference().pid(), reference);
  EXPECT_EQ(workers.candidate().pid(), candidate);
  workers.expect_foreign_code();
  ASSERT_TRUE(workers.revive());
  EXPECT_EQ(workers.candidate().pid(), candidate);  // for the other graphs of this sample
  ASSERT_TRUE(workers.begin_sample());
  EXPECT_EQ(workers.reference().pid(), reference);
  EXPECT_NE(workers.candidate().pid(), candidate);
  const pid_t fresh = workers.candidate().pid();
  ASSERT_TRUE(workers.begin_sample());
  EXPECT_EQ(workers.candidate().pid(), fresh);
}

// What depends on no pass is asked of the reference once: the graph is loaded and run there once, and whoever comes next
// finds it rewound. Each candidate has a candidate of its own.
TEST_F(Requests, ForSeveralCandidatesArePreparedOnce) {
  graphdir::Sample first;
  first.path = directory_;
  first.name = "first";
  first.graph_names = {"a"};
  first.graph_paths = {directory_ / "a"};
  const fs::path original = graphdir::load_sample(tests::source_dir() / "samples/gpt2_gelu").value().graph_paths.at(0);
  fs::create_directories(directory_);
  fs::copy(original, directory_ / "a", fs::copy_options::recursive);
  graphdir::Sample second = first;
  second.name = "second";
  EvaluateOptions options;
  options.compiler = "eager";
  options.threads = 1;
  options.timed = false;
  options.worker = tests::binary_dir() / "bin/scripted_worker";
  std::vector<std::string> finished;
  EvaluateHooks hooks;
  hooks.finished = [&](const record::RunRecord& record) -> Result<void> {
    EXPECT_EQ(record.error, "");
    finished.push_back(record.sample + "/" + record.graph);
    return {};
  };
  testing::internal::CaptureStderr();
  EvaluationWorkers workers(options);
  const Result<void> done = evaluate_candidates({{first, hooks}, {second, hooks}}, options, workers);
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_THAT(finished, ElementsAre("first/a", "second/a"));
  const std::vector<std::string> requests = requests_in(log);
  const auto count = [&](const char* what) { return std::ranges::count(requests, what); };
  EXPECT_EQ(count("R rewind"), 1);
  EXPECT_EQ(count("C load"), 2);
  EXPECT_EQ(count("R load"), 3);  // the graph, and for each candidate the graph at float64
  EXPECT_EQ(std::ranges::count(
                split(log, '\n'), true,
                [](std::string_view line) { return line.find("candidate: started") != std::string_view::npos; }),
            2);
}

}  // namespace
}  // namespace passnet::run
