#include "report/exchange/exchange.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json/json_fields.h"
#include "record/score/score.h"
#include "record/score/summary.h"
#include "record/stats.h"
#include "record/verdict.h"

namespace passnet::report {

using record::RunRecord;
using record::Status;

namespace {

constexpr double kMsPerUs = 1e-3;

bool is_timed(const RunRecord& record) {
  return !record.disturbed && record::times_valid(record.reference) && record::times_valid(record.candidate);
}

std::string version_in(const RunRecord& record, const std::string& of) {
  if (!record.provenance) return "";
  const auto found = record.provenance->versions.find(of);
  return found == record.provenance->versions.end() ? "" : found->second;
}

/// "passnet-" and a hash of the passes and kernels.
std::string solution_of(const RunRecord& record) {
  std::string files;
  if (record.provenance) {
    for (const auto* hashes : {&record.provenance->passes, &record.provenance->kernels})
      for (const auto& [name, hash] : *hashes) files += name + " " + hash + "\n";
  }
  return record.compiler + "-" + sha256_hex(files).substr(0, 16);
}

const char* flashinfer_status(const RunRecord& record, const record::Verdict& verdict) {
  if (record.error_kind == "timeout") return "TIMEOUT";
  switch (verdict.status) {
    case Status::Correct: return verdict.correct_at(record::kCorrectT) ? "PASSED" : "INCORRECT_NUMERICAL";
    case Status::ShapeMismatch: return "INCORRECT_SHAPE";
    case Status::TypeMismatch: return "INCORRECT_DTYPE";
    case Status::CompileFail: return "COMPILE_ERROR";
    case Status::EagerFail:
    case Status::RuntimeFail: break;
  }
  return "RUNTIME_ERROR";
}

Json correctness_of(const RunRecord& record) {
  double relative = 0, absolute = 0;
  const auto worse = [](double a, double b) { return b > a || b != b ? b : a; };
  for (const record::OutputCheck& output : record.outputs) {
    relative = worse(relative, output.max_rel_diff);
    absolute = worse(absolute, output.max_abs_diff);
  }
  return {{"max_relative_error", number_json(relative)}, {"max_absolute_error", number_json(absolute)}};
}

Json performance_of(const RunRecord& record) {
  return {{"latency_ms", kMsPerUs * record::summarize(record.candidate.trials_us).median},
          {"reference_latency_ms", kMsPerUs * record::summarize(record.reference.trials_us).median},
          {"speedup_factor", record::median_ratio(record.reference, record.candidate)}};
}

}  // namespace

std::vector<Json> pytorch_benchmark(const RunRecord& record) {
  const bool right = record::judge(record).correct_at(record::kCorrectT);
  const Json benchmark{{"name", "PassNet"},
                       {"mode", "inference"},
                       {"dtype", record.outputs.empty() ? "" : record.outputs.front().expected_dtype},
                       {"extra_info",
                        {{"verdict", record::headline(record)},
                         {"device", record.device},
                         {"hardware", record.hardware},
                         {"threads", record.threads},
                         {"started", record.started},
                         {"passnet", version_in(record, "passnet")},
                         {"torch", version_in(record, "torch")}}}};
  const Json model{{"name", record.sample + "/" + record.graph}, {"type", "graph"}, {"backend", record.compiler}};
  std::vector<Json> metrics;
  const auto add = [&](const char* name, Json values) {
    metrics.push_back({{"benchmark", benchmark},
                       {"model", model},
                       {"metric", {{"name", name}, {"benchmark_values", std::move(values)}, {"target_value", 0}}}});
  };
  add("correct", {right ? 1 : 0});
  if (!is_timed(record)) return metrics;
  add("speedup", {record::median_ratio(record.reference, record.candidate)});
  add("latency", record.candidate.trials_us);
  add("reference_latency", record.reference.trials_us);
  return metrics;
}

std::optional<Json> flashinfer_trace(const RunRecord& record) {
  if (!record::counts(record) || record::is_declined(record) || record::is_unmatched(record)) return std::nullopt;
  const record::Verdict verdict = record::judge(record);
  const bool right = verdict.correct_at(record::kCorrectT);
  if (verdict.status == Status::EagerFail || (right && !is_timed(record))) return std::nullopt;
  Json evaluation{{"status", flashinfer_status(record, verdict)},
                  {"environment",
                   {{"hardware", record.hardware.empty() ? record.device : record.hardware},
                    {"libs", {{"passnet", version_in(record, "passnet")}, {"torch", version_in(record, "torch")}}}}},
                  {"timestamp", record.started},
                  {"log", record::headline(record) + (record.error.empty() ? "" : ": " + valid_utf8(record.error))},
                  {"correctness", nullptr},
                  {"performance", nullptr}};
  if (verdict.status == Status::Correct) evaluation["correctness"] = correctness_of(record);
  if (right) evaluation["performance"] = performance_of(record);
  return Json{{"definition", record.sample},
              {"workload", {{"axes", Json::object()}, {"inputs", Json::object()}, {"uuid", record.graph}}},
              {"solution", solution_of(record)},
              {"evaluation", std::move(evaluation)}};
}

}  // namespace passnet::report
