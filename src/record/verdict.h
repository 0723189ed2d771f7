// record -> verdict: what upstream's tools call the status of a sample.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"

namespace passnet::record {

/// Upstream's names, derived from the record, not from text. Source: docs/scoring.md, "Status".
enum class Status { Correct, EagerFail, CompileFail, RuntimeFail, ShapeMismatch, TypeMismatch };
const char* to_string(Status status);

inline constexpr int kFirstT = -10, kLastNumericT = 5;

struct Verdict {
  Status status = Status::EagerFail;
  /// Smallest t at which every output passes its own dtype's pair; at most kCorrectT where all keep their error budgets,
  /// and 6 where one does not, or when there is none. Only for Correct.
  int passes_from = 6;
  /// median reference / median candidate; 0 when not timed.
  double speedup = 0;
  bool correct_at(int t) const { return status == Status::Correct && t >= passes_from; }
  bool operator==(const Verdict&) const = default;
};

/// How statuses map (reasons in docs/scoring.md): failure before or in Reference, or no pass matched -> EagerFail
/// (upstream logs both so); any other failure in Match, Build, Load -> CompileFail; Run, Time, impossible times,
/// nothing to compare, or a non-deterministic candidate -> RuntimeFail; wrong count or shape -> ShapeMismatch; wrong
/// dtype -> TypeMismatch. What remains is Correct, from `passes_from` on. Speedup is 0 unless the status is Correct; a
/// graph that was compared and never timed, or whose times were disturbed, has 0 too. A declined graph is Correct
/// everywhere, at exactly 1.
Verdict judge(const RunRecord& record);

/// The rung t at which a graph is called correct: PyTorch's own defaults for assert_close.
inline constexpr int kCorrectT = -5;
/// So many rungs beyond it a graph is called "inexact": a hundred times the absolute tolerance for most types. Then
/// "wrong".
inline constexpr int kNearRungs = 2;

/// The passes matched and their plans declined every site, or the list of passes is empty: the graph is left as it was, and
/// was not measured.
bool is_declined(const RunRecord& record);

/// No call takes less than this; a list with a trial that is shorter, negative or not finite is not a measurement.
inline constexpr double kShortestCallUs = 0.01;
bool times_valid(const Timing& timing);

/// Returns: median reference / median candidate; 0 when either side has no valid times (times_valid).
double median_ratio(const Timing& reference, const Timing& candidate);

/// Whether host code of the passes ran beside the clock and the results: what it says of itself is not ranked.
bool ran_host_code(const RunRecord& record);

/// Tells whether answers that take no work, or that know an input beforehand, would have passed on this graph: a pass is then
/// right, and its speed says nothing.
bool is_unranked(const RunRecord& record);

/// Returns: whether the graph is right, but was timed while other processes held its processors: there is nothing to
///          score until it is measured again.
bool is_unmeasured(const RunRecord& record);

/// Returns: whether the candidate was timed faster than the machine can move what the graph must move. Something is wrong
///          with the times, or with what the calls did; nobody knows what, so they count nowhere.
bool is_below_floor(const RunRecord& record);

/// Returns how many times longer, beside what eager takes longer, the candidate takes on kPlanted or kWider inputs, whichever
/// is more; 0: not known. Above kMostUneven and what the times scatter it does less on the usual ones.
double unevenness(const RunRecord& record);
inline constexpr double kMostUneven = 1.5;
bool is_uneven(const RunRecord& record);
/// The same of undisturbed times.
bool is_uneven(const Timing& reference, const Timing& candidate);

/// Tells whether the times are no measurement of the work: is_below_floor() or is_uneven().
bool is_quarantined(const RunRecord& record);

/// Both sides were timed and one of them has iqr / median above kNoisy.
bool is_noisy(const RunRecord& record);

/// The verdict in words. Of compared graphs "correct" (passes at t = -5 of its dtypes), "inexact" (at most kNearRungs
/// later), "wrong", "declined", …; of others the stage that ended it and the kind of failure: "run: crashed".
std::string headline(const RunRecord& record);
/// Verdicts without a stage, and the kinds of failures. docs/verdicts.md explains each.
std::vector<std::string> verdict_words();
/// word: a headline; a kind, for failures of any stage; or a word of an older version. Returns the headline or kind that
/// says it now; none: no verdict is called so.
std::optional<std::string> verdict_named(std::string_view word);
/// word: a headline or a kind. Returns: whether the headline is that, or of that kind.
bool is_named(std::string_view headline, std::string_view word);

}  // namespace passnet::record
