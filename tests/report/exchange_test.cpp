#include "report/exchange/exchange.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "../record/example_records.h"

namespace passnet::report {
namespace {

using record::failed_record;
using record::output_of;
using record::record_of;
using record::RunRecord;
using record::Stage;

RunRecord right_graph() { return record_of("b1", 4, {output_of("float16", -6)}); }

TEST(PytorchBenchmark, HasAnEntryPerMetric) {
  const std::vector<Json> metrics = pytorch_benchmark(right_graph());
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[0]["benchmark"]["name"], "PassNet");
  EXPECT_EQ(metrics[0]["benchmark"]["dtype"], "float16");
  EXPECT_EQ(metrics[0]["benchmark"]["extra_info"]["verdict"], "correct");
  EXPECT_EQ(metrics[0]["model"].dump(), R"({"name":"worked/b1","type":"graph","backend":"passes"})");
  EXPECT_EQ(metrics[0]["metric"].dump(), R"({"name":"correct","benchmark_values":[1],"target_value":0})");
  EXPECT_EQ(metrics[1]["metric"].dump(), R"({"name":"speedup","benchmark_values":[4.0],"target_value":0})");
  EXPECT_EQ(metrics[2]["metric"]["benchmark_values"].dump(), "[3.0,3.0,3.0]");
  EXPECT_EQ(metrics[3]["metric"]["name"], "reference_latency");
}

TEST(PytorchBenchmark, OfWhatWasNotTimedIsItsCorrectness) {
  const std::vector<Json> metrics = pytorch_benchmark(failed_record("b1", Stage::Build, "bad-pass", "no"));
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0]["metric"]["benchmark_values"].dump(), "[0]");
}

TEST(FlashinferTrace, TellsErrorsAndTimes) {
  const std::optional<Json> trace = flashinfer_trace(right_graph());
  ASSERT_TRUE(trace);
  EXPECT_EQ((*trace)["definition"], "worked");
  EXPECT_EQ((*trace)["workload"].dump(), R"({"axes":{},"inputs":{},"uuid":"b1"})");
  EXPECT_EQ((*trace)["solution"], "passes-e3b0c44298fc1c14");
  const Json& evaluation = (*trace)["evaluation"];
  EXPECT_EQ(evaluation["status"], "PASSED");
  EXPECT_EQ(evaluation["correctness"].dump(), R"({"max_relative_error":0.0,"max_absolute_error":0.25})");
  EXPECT_EQ(evaluation["performance"].dump(),
            R"({"latency_ms":0.003,"reference_latency_ms":0.012,"speedup_factor":4.0})");
  EXPECT_EQ(evaluation["timestamp"], "2026-01-02T03:04:05Z");
}

TEST(FlashinferTrace, HasErrorsAloneOfWrongValues) {
  RunRecord wrong = record_of("b1", 4, {output_of("float32", 6)});
  wrong.outputs[0].max_rel_diff = std::numeric_limits<double>::infinity();
  const Json evaluation = (*flashinfer_trace(wrong))["evaluation"];
  EXPECT_EQ(evaluation["status"], "INCORRECT_NUMERICAL");
  EXPECT_EQ(evaluation["correctness"]["max_relative_error"], "inf");
  EXPECT_TRUE(evaluation["performance"].is_null());
}

TEST(FlashinferTrace, NamesFailures) {
  const auto status = [](Stage stage, const std::string& kind) {
    return (*flashinfer_trace(failed_record("b1", stage, kind, "why")))["evaluation"]["status"];
  };
  EXPECT_EQ(status(Stage::Build, "bad-pass"), "COMPILE_ERROR");
  EXPECT_EQ(status(Stage::Run, "crash"), "RUNTIME_ERROR");
  EXPECT_EQ(status(Stage::Run, "timeout"), "TIMEOUT");
}

TEST(FlashinferTrace, IsNoneWhereNothingIsKnownOfASolution) {
  RunRecord untimed = right_graph(), disturbed = right_graph();
  untimed.reference = untimed.candidate = {};
  disturbed.disturbed = true;
  EXPECT_FALSE(flashinfer_trace(untimed));
  EXPECT_FALSE(flashinfer_trace(disturbed));
  EXPECT_FALSE(flashinfer_trace(failed_record("b1", Stage::Match, "no-match", "no pass matched")));
  EXPECT_FALSE(flashinfer_trace(failed_record("b1", Stage::Reference, "crash", "crashed")));
}

}  // namespace
}  // namespace passnet::report
