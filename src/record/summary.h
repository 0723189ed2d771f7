// What stands beside every score, so that it is not read for more than it is: how many graphs a pass was put into at
// all, how many were left alone, and what the score owes to failures that ES(t) forgives.
// Source: docs/scoring.md, "Beside the score".
#pragma once

#include <optional>
#include <vector>

#include "record/record.h"
#include "record/score.h"

namespace passnet::record {

/// One aggregated score under both sets of weights; 1 is eager.
struct WeightedScore {
  double linear = 1;     // Score::aggregated_linear
  double passbench = 1;  // Score::passbench
};

/// What only records tell; a log of upstream's says nothing of sites.
struct Reach {
  int applied = 0;                        // graphs in which a pass replaced something
  std::optional<double> speedup_applied;  // geometric mean over the correct and timed of these; none: of no graph
  int declined = 0;                       // abstained: a pattern matched, the plan declined; counts exactly 1
  int unmatched = 0;                      // abstained: nothing matched, or there is no pass; fails, as upstream has it
  WeightedScore abstaining;               // the score if these counted exactly 1 too
  /// Of plans that called PyTorch (record/library_calls.h).
  struct Library {
    int correct = 0;        // graphs that are right with such calls
    int replayed = 0;       // of these, without a kernel of a pass's own
    WeightedScore refused;  // the score if such calls were refused, as they are by default
  };
  std::optional<Library> library;  // none: no graph has them
};

struct Summary {
  int total = 0, correct = 0, fast = 0;  // graphs that count; correct at kCorrectT; of these, faster than eager
  WeightedScore unforgiven;              // the score in which no failure is ever forgiven: ES(t) with b at every t
  std::optional<Reach> reach;

  double share(int graphs) const { return total == 0 ? 0 : static_cast<double>(graphs) / total; }
};

/// The digest of a record for a summary.
struct Counted {
  Verdict verdict;
  std::optional<Verdict> refused;  // the verdict if calls of PyTorch were refused; none: there are none
  bool applied = false, declined = false, unmatched = false, replay = false;
};
/// REQUIRES: counts(record).
Counted counted(const RunRecord& record);

/// Of verdicts alone; without reach.
Summary summary_of(const std::vector<Verdict>& verdicts, const ScoreOptions& options = {});
Summary summary_of(const std::vector<Counted>& records, const ScoreOptions& options = {});
/// Of the records that count (record::counts).
Summary summary_of(const std::vector<RunRecord>& records, const ScoreOptions& options = {});

/// The aggregated score in which a graph that no pass applies to counts exactly 1 (Reach::abstaining); 1 where none counts.
double abstaining_score(const std::vector<RunRecord>& records);

/// Whether a pass replaced something in the graph, whatever became of it then.
bool is_applied(const RunRecord& record);
/// Whether no pass found a site, or the sample has no pass.
bool is_unmatched(const RunRecord& record);

/// docs/schemas/score.json names the keys; those of `reach` are null without it.
Json to_json(const Summary& summary);

}  // namespace passnet::record
