#include "bench/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "bench/stats.h"

namespace passnet::bench {

namespace {

constexpr int kNeverPasses = kLastNumericT + 1;

bool any_output(const RunRecord& record, bool (*differs)(const OutputCheck&)) {
  return std::any_of(record.outputs.begin(), record.outputs.end(), differs);
}
bool shape_differs(const OutputCheck& output) { return output.expected_shape != output.found_shape; }
bool dtype_differs(const OutputCheck& output) { return output.expected_dtype != output.found_dtype; }

bool count_differs(const RunRecord& record) {
  return record.expected_outputs != record.found_outputs ||
         static_cast<int>(record.outputs.size()) != record.expected_outputs;
}

/// Everything but numbers: what a record is that cannot be called correct at any tolerance.
Status structural_status(const RunRecord& record) {
  if (record.error_kind == "no-match" || record.stage <= Stage::Reference) return Status::EagerFail;
  if (record.stage <= Stage::Load) return Status::CompileFail;
  if (record.stage == Stage::Run || !record.outputs_counted) return Status::RuntimeFail;
  if (count_differs(record) || any_output(record, shape_differs)) return Status::ShapeMismatch;
  if (any_output(record, dtype_differs)) return Status::TypeMismatch;
  const bool failed_later =
      record.stage == Stage::Time || (record.stage == Stage::Done && !record.error_kind.empty());
  if (failed_later || record.outputs.empty() || !record.deterministic) return Status::RuntimeFail;
  return Status::Correct;
}

int worst_rung(const RunRecord& record) {
  int worst = kFirstT;
  for (const OutputCheck& output : record.outputs) worst = std::max(worst, output.passes_from);
  return std::min(worst, kNeverPasses);
}

/// 0 when either side has no believable times.
double measured_speedup(const RunRecord& record) {
  if (!times_valid(record.reference) || !times_valid(record.candidate)) return 0;
  const double ratio =
      summarize(record.reference.trials_us).median / summarize(record.candidate.trials_us).median;
  return std::isfinite(ratio) ? ratio : 0;
}

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::Correct:
      return "correct";
    case Status::EagerFail:
      return "eager_fail";
    case Status::CompileFail:
      return "compile_fail";
    case Status::RuntimeFail:
      return "runtime_fail";
    case Status::ShapeMismatch:
      return "shape_mismatch";
    case Status::TypeMismatch:
      return "type_mismatch";
  }
  return "unknown";
}

bool times_valid(const Timing& timing) {
  return !timing.trials_us.empty() &&
         std::all_of(timing.trials_us.begin(), timing.trials_us.end(),
                     [](double us) { return std::isfinite(us) && us >= kShortestCallUs; });
}

bool is_noisy(const RunRecord& record) {
  if (!times_valid(record.reference) || !times_valid(record.candidate)) return false;
  return summarize(record.reference.trials_us).noise() > kNoisy ||
         summarize(record.candidate.trials_us).noise() > kNoisy;
}

Verdict judge(const RunRecord& record) {
  const Status status = structural_status(record);
  if (status != Status::Correct) return {status, kNeverPasses, 0};
  const int passes_from = worst_rung(record);
  const double speedup = measured_speedup(record);
  if (speedup > 0) return {Status::Correct, passes_from, speedup};
  const bool untimed = record.reference.trials_us.empty() && record.candidate.trials_us.empty();
  if (untimed || passes_from == kNeverPasses) return {Status::Correct, passes_from, 0};
  return {Status::RuntimeFail, kNeverPasses, 0};
}

std::string headline(const RunRecord& record) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 8> kKinds = {{
      {"resource", "no resources"},
      {"no-match", "no match"},
      {"timeout", "timed out"},
      {"crash", "crashed"},
      {"out-of-bounds", "out of bounds"},
      {"unwritten-output", "unwritten"},
      {"input-changed", "input changed"},
      {"bad-pass", "bad pass"},
  }};
  const Verdict verdict = judge(record);
  switch (verdict.status) {
    case Status::Correct:
      return verdict.correct_at(kCorrectT)       ? "correct"
             : verdict.correct_at(kLastNumericT) ? "inexact"
                                                 : "wrong";
    case Status::ShapeMismatch:
      return count_differs(record) ? "wrong count" : "wrong shape";
    case Status::TypeMismatch:
      return "wrong dtype";
    default:
      break;
  }
  if (record.stage == Stage::Build) return "build failed";
  for (const auto& [kind, words] : kKinds) {
    if (record.error_kind == kind) return words;
  }
  switch (record.stage) {
    case Stage::Parse:
      return "bad graph";
    case Stage::Inputs:
      return "bad inputs";
    case Stage::Reference:
      return "eager failed";
    case Stage::Match:
      return "match failed";
    case Stage::Load:
      return "load failed";
    case Stage::Run:
      return "run failed";
    default:
      break;
  }
  if (!record.deterministic) return "unstable";
  if (record.outputs.empty()) return "no outputs";
  return "bad times";
}

}  // namespace passnet::bench
