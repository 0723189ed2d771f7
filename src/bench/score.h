// verdicts -> S(t), ES(t), the aggregated score (spec E.4): pure functions with upstream's parameters as defaults.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/verdict.h"

namespace passnet::bench {

enum class Interpretation { Default, MismatchExtended };

struct ScoreOptions {
  double penalty_base = 0.1;   // b
  double slow_exponent = 0;    // p: a correct graph slower than 1x counts s^(1+p)
  Interpretation interpretation = Interpretation::Default;
};

struct ScorePoint {
  int t = 0;
  double s = 0, es = 0;        // sample-level S_t and ES_t
  double es_macro = 0;         // the aggregated form (spec E.4), for cross-checking
  double correct_share = 0;    // lambda
};

struct Score {
  std::vector<ScorePoint> points;   // t = -10 … 4 (Default) or 5 (MismatchExtended)
  double aggregated = 0;            // sum of w_t log10(ES_t), t = -10 … 4; 0 = eager
  double aggregated_linear = 0;     // 10^aggregated: 1.000 = eager
  int total = 0;
  double geomean_speedup = 1;       // of graphs correct at t = -5… see .cpp; 1 when none
  double correct_share = 0;         // correct at t = 1
  double fast_share = 0;            // correct at t = 1 and speedup > 1
};

Score score(const std::vector<Verdict>& verdicts, const ScoreOptions& options = {});

/// Upstream's keys {"id", "score"} and ours.
Json to_json(const Score& score, const std::string& id);

/// validation.log in upstream's line format (spec E.2), one block per record.
std::string render_upstream_log(const std::vector<RunRecord>& records);

/// Reads upstream's logs (spec E.2 parser patterns) into verdicts, so that `passnet score` takes them too.
Result<std::vector<Verdict>> verdicts_from_upstream_log(const std::string& file, std::string_view text);

}  // namespace passnet::bench
