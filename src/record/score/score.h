// verdicts -> S(t), ES(t) and the aggregated score, by pure functions with upstream's parameters as defaults.
// Source: docs/scoring.md, "S(t) and ES(t)" and "The aggregated score".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "record/verdict.h"

namespace passnet::record {

enum class Interpretation { Default, MismatchExtended };

struct ScoreOptions {
  double penalty_base = 0.1;  // b
  double slow_exponent = 0;   // p: a correct graph slower than 1x counts s^(1+p)
  Interpretation interpretation = Interpretation::Default;
  bool forgiving = true;  // false: no class of errors is forgiven at any t
};

/// The classes of errors that a positive tolerance may forgive, numbered from 1.
inline constexpr int kErrorClasses = 4;

/// One rung of the ladder. The macro quantities are those of t = 1 for t >= 1 (frozen, as ES is).
struct ScorePoint {
  int t = 0;
  double s = 0, es = 0;                              // sample-level S_t and ES_t
  double es_macro = 0;                               // ES_t computed from shares, as a cross-check
  double correct_share = 0;                          // lambda
  double alpha = 1;                                  // geometric mean of the correct speedups
  double beta = 1;                                   // of those below 1
  double eta = 0;                                    // slow / correct
  double gamma = 1;                                  // what a wrong sample counts
  std::array<double, kErrorClasses> error_shares{};  // pi: share of error class 1…4 among the wrong samples
  bool forms_agree = true;  // |es - es_macro| <= 1e-3 + 1e-3 |es_macro|; upstream aborts otherwise
};

struct Score {
  Interpretation interpretation = Interpretation::Default;
  std::vector<ScorePoint> points;  // t = -10 … 4 (Default) or 5 (MismatchExtended)
  double aggregated = 0;           // sum of w_t log10(ES_t), t = -10 … 4; 0 = eager
  double aggregated_linear = 1;    // 10^aggregated: 1.000 = eager
  double passbench = 1;            // 10^sum with the weights PassBench publishes its AS with: 1.000 = eager
  bool forms_agree = true;         // at every rung
  int total = 0;
  int correct = 0;                        // graphs correct at kCorrectT
  std::optional<double> geomean_speedup;  // of those that were timed or declined; none: of no graph
  double correct_share = 0;               // correct / total; 0 when total is 0
  double fast_share = 0;                  // correct at kCorrectT and speedup > 1, of all
  const ScorePoint& at(int t) const { return points.at(static_cast<size_t>(t - kFirstT)); }
};

/// No verdicts: every S_t and ES_t is 1 and total is 0.
Score score(const std::vector<Verdict>& verdicts, const ScoreOptions& options = {});

/// Why a score leaves a graph out: it says nothing about a pass, or nothing that can be believed.
enum class LeftOut {
  No,
  Disturbed,      // right, and timed on a busy machine (is_unmeasured)
  MachineFailed,  // the machine kept it from being evaluated (is_environment_failure)
  NoWork,         // right, where answers that take no work are right too (is_unranked)
  BelowFloor,     // faster than the machine can be (is_below_floor)
  Uneven,         // far slower on other values (is_uneven)
  HostCode,       // host code of its passes ran in Python (ran_host_code)
  Unconfined,     // evaluated below kRankedIsolation
};
LeftOut left_out(const RunRecord& record);
/// Whether a score counts it.
bool counts(const RunRecord& record);

/// The verdicts of all records that count.
std::vector<Verdict> judge_all(const std::vector<RunRecord>& records);

/// aggregated_score.json: upstream's keys {"id", "score"} and ours (docs/scoring.md).
Json to_json(const Score& score, const std::string& id);

/// Returns: validation.log in upstream's line format, one block per record. Text that came from a graph, a pass or a
///          kernel is made inert first: it can neither end a line nor look like a line that upstream's parser reads.
/// Source:  docs/scoring.md, "Logs".
std::string render_upstream_log(const std::vector<RunRecord>& records);

/// The names after "[Processing]" in an upstream log, in order: one per verdict of verdicts_from_upstream_log, which
/// must have accepted the text. Empty where a line has none.
std::vector<std::string> names_in_upstream_log(std::string_view text);

/// Reads a log of upstream's tools, so that `passnet score` takes it too. As upstream does: the last line of a kind
/// wins, a missing all_close line is a failure, and a graph without an [equal] line is correct. Where upstream's scorer
/// crashes: a correct graph without a [Speedup][e2e] line counts as not timed, and a speedup that is zero, negative or
/// not finite is RuntimeFail.
/// file:     names the text in messages.
/// Returns:  a verdict per graph, in the order of the log.
/// Errors:   BadInput with its line: text where a number should be, or no [Processing] line at all.
/// Source:   docs/scoring.md, "Logs".
Result<std::vector<Verdict>> verdicts_from_upstream_log(const std::string& file, std::string_view text);

}  // namespace passnet::record
