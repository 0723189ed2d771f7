// What every kind of report says about one graph, worked out once from its record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/record.h"
#include "record/score/interval.h"
#include "record/stats.h"
#include "record/verdict.h"

namespace passnet::report {

enum class Tone { Good, Neutral /* right, and nothing done */, Doubtful, Bad };

struct Row {
  std::string sample, graph;
  std::string name;      // "graph", or "sample/graph" when there are several samples
  std::string headline;  // record::headline
  Tone tone = Tone::Bad;
  record::Verdict verdict;
  bool timed = false;         // both sides have believable times
  double ratio = 0;           // median reference / median candidate; 0 when not timed, not correct or declined
  record::Interval interval;  // 95 %, of the ratio; not known when there is none
  bool no_work = false;       // answers that take no work would have passed too: it has no ratio
  bool disturbed = false;     // timed while other processes held the processors: times and ratio say nothing
  bool below_floor = false;   // faster than the machine can be: nothing counts (record::is_below_floor)
  bool uneven = false;        // far slower on other values: nothing counts (record::is_uneven)
  bool host_code = false;     // of the passes ran in Python: it counts in no score
  bool unranked = false;      // evaluated below record::kRankedIsolation: it counts in no score
  record::Stats reference_us, candidate_us;
  struct OtherRatio {
    record::Track track;
    double ratio = 0;
  };
  std::vector<OtherRatio> others;  // of the same calls timed in other ways; GPU only
  bool noisy = false;
  double noise = 0;                        // the larger iqr / median of both sides
  bool compared = false;                   // outputs were compared
  double max_abs_diff = 0;                 // over all outputs; nan when one is not comparable
  int sites = 0, declined = 0;             // of all passes
  std::optional<record::Control> control;  // the A/A control of the sample, with the first of its graphs that was timed
  std::vector<record::SurplusPass> surplus;
  std::vector<std::string> library_calls;  // what plans called of PyTorch, each name once
  bool replay = false;                     // PyTorch computed all of it (record::is_replay)
  std::optional<record::Profile> profile;
  std::optional<record::SecondCandidate> second_candidate;
  std::string problem;  // why it is not correct, several lines, as recorded; empty when correct
};

bool has_several_samples(const std::vector<record::RunRecord>& records);

std::vector<Row> rows_of(const std::vector<record::RunRecord>& records);

/// How it was measured, by the first timed record: "passes on cpu, Intel… x 2 threads, 25 warm-up and 100
/// timed calls, seed 1024". Empty for no records.
std::string conditions(const std::vector<record::RunRecord>& records);

/// What a ratio says: "2.31x", "no difference" when its interval holds 1, "disturbed" when it was not measured, "-"
/// when not timed.
std::string speedup_text(const Row& row);
/// "2.25 to 2.38", the 95 % interval of the ratio; "-" when it has none.
std::string interval_text(const Row& row);
/// Text of the column of the second candidate: its ratio to the same reference, "no difference", "disturbed", "wrong", "failed"; "-"
/// without one.
std::string second_text(const Row& row);
/// The A/A controls of all samples: "1.00x (0.98 to 1.02)", or "0.97x to 1.03x over 12 samples". Empty when there is
/// none.
std::string controls_text(const std::vector<Row>& rows);

/// The listed passes that were left out and why: "c and d of vit (REASON); e of gpt2 (REASON)". Empty when there is none.
std::string surplus_text(const std::vector<Row>& rows);

/// What plans called of PyTorch: "torch.conv2d, + in b1 and b2; torch.relu in b3, without a kernel of its own". Empty when
/// they called nothing.
std::string library_text(const std::vector<Row>& rows);

/// "2.31x"; "-" when 0.
std::string ratio_text(double ratio);
/// The rung t from which the graph is right, "-6"; "-" when it is at none.
std::string rung_text(const Row& row);
/// "0", "1.2e-07", "nan"; "-" when nothing was compared.
std::string error_text(const Row& row);
/// Sites replaced, "2", or replaced of found, "2/3", when the plan declined some.
std::string sites_text(const Row& row);

}  // namespace passnet::report
