#include "record/upstream/upstream_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace passnet::record {

namespace {

constexpr int kNoRung = kLastNumericT + 1;

/// What checks of ours end a call with, and faults of our own.
bool is_own_check(std::string_view kind) {
  static constexpr std::array<std::string_view, 7> kKinds = {
      "out-of-bounds", "unwritten-output", "input-changed", "not-at-rest", "clock", "internal", "nonsense"};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

bool has_other_count_or_shape(const RunRecord& record) {
  if (record.expected_outputs != record.found_outputs) return true;
  return std::ranges::any_of(record.outputs,
                             [](const OutputCheck& one) { return one.expected_shape != one.found_shape; });
}

bool has_other_dtype(const RunRecord& record) {
  return std::ranges::any_of(record.outputs,
                             [](const OutputCheck& one) { return one.expected_dtype != one.found_dtype; });
}

UpstreamVerdict failed(Status status) { return {Verdict{status, kNoRung, 0}, NotJudged::No}; }

}  // namespace

UpstreamVerdict judge_by_upstream(const RunRecord& record) {
  if (is_environment_failure(record)) return {std::nullopt, NotJudged::MachineFailed};
  if (record.stage <= Stage::Load || record.error_kind == "no-match" || is_declined(record))
    return failed(Status::EagerFail);
  if (!record.outputs_counted) {
    if (is_own_check(record.error_kind) || record.stage > Stage::Run) return {std::nullopt, NotJudged::Uncompared};
    return failed(Status::RuntimeFail);
  }
  if (has_other_count_or_shape(record)) return failed(Status::ShapeMismatch);
  if (has_other_dtype(record)) return failed(Status::TypeMismatch);
  if (record.stage == Stage::Time && !is_own_check(record.error_kind)) return failed(Status::RuntimeFail);
  int rung = kFirstT;
  for (const OutputCheck& output : record.outputs)
    rung = std::max(rung, output.checked_from.value_or(output.passes_from));
  const Verdict verdict{Status::Correct, rung, median_ratio(record.reference, record.candidate)};
  // From t = 1 on nothing more is compared, so what is wrong there needs no time.
  if (verdict.speedup <= 0 && verdict.correct_at(1)) return {std::nullopt, NotJudged::Untimed};
  return {verdict, NotJudged::No};
}

}  // namespace passnet::record
