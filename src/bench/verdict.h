// record -> verdict: what upstream's tools call the status of a sample.
#pragma once

#include <array>
#include <string>

#include "bench/record.h"

namespace passnet::bench {

/// Upstream's names (spec E.2), derived from the record, not from text.
enum class Status { Correct, EagerFail, CompileFail, RuntimeFail, ShapeMismatch, TypeMismatch };
const char* to_string(Status status);

inline constexpr int kFirstT = -10, kLastNumericT = 5;

struct Verdict {
  Status status = Status::EagerFail;
  /// Smallest t at which every output passes its own dtype's pair; 6 when none. Only for Correct.
  int passes_from = 6;
  /// median reference / median candidate; 0 when not timed.
  double speedup = 0;
  bool correct_at(int t) const { return status == Status::Correct && t >= passes_from; }
};

/// How statuses map: failure before or in Reference, or no pass matched -> EagerFail (upstream logs both so);
/// Build, Load -> CompileFail; Run, Time, or a non-deterministic candidate -> RuntimeFail; wrong count or shape ->
/// ShapeMismatch; wrong dtype -> TypeMismatch.
Verdict judge(const RunRecord& record);

/// One word for a table: "correct" (passes at t = -5 of its dtypes), "inexact" (at a later rung), "wrong", "no match",
/// "build failed", "crashed", …
std::string headline(const RunRecord& record);

}  // namespace passnet::bench
