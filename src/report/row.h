// What every kind of report says about one graph, worked out once from its record.
#pragma once

#include <string>
#include <vector>

#include "bench/record.h"
#include "bench/stats.h"
#include "bench/verdict.h"

namespace passnet::report {

enum class Tone { Good, Neutral /* right, and nothing done */, Doubtful, Bad };

struct Row {
  std::string sample, graph;
  std::string name;      // "graph", or "sample/graph" when there are several samples
  std::string headline;  // bench::headline
  Tone tone = Tone::Bad;
  bench::Verdict verdict;
  bool timed = false;  // both sides have believable times
  double ratio = 0;    // median reference / median candidate; 0 when not timed, not correct or declined
  bench::Stats reference_us, candidate_us;
  struct OtherRatio {
    bench::Track track;
    double ratio = 0;
  };
  std::vector<OtherRatio> others;  // of the same calls timed in other ways; GPU only
  bool noisy = false;
  double noise = 0;             // the larger iqr / median of both sides
  bool compared = false;        // outputs were compared
  double max_abs_diff = 0;      // over all outputs; nan when one is not comparable
  int sites = 0, declined = 0;  // of all passes
  std::string problem;          // why it is not correct, several lines, as recorded; empty when correct
};

bool has_several_samples(const std::vector<bench::RunRecord>& records);

std::vector<Row> rows_of(const std::vector<bench::RunRecord>& records);

/// How it was measured, by the first timed record: "passes on cpu, Intel… x 2 threads, 25 warm-up and 100
/// timed calls, seed 1024". Empty for no records.
std::string conditions(const std::vector<bench::RunRecord>& records);

/// "2.31x"; "-" when 0.
std::string ratio_text(double ratio);
/// The rung t from which the graph is right, "-6"; "-" when it is at none.
std::string rung_text(const Row& row);
/// "0", "1.2e-07", "nan"; "-" when nothing was compared.
std::string error_text(const Row& row);
/// Sites replaced, "2", or replaced of found, "2/3", when the plan declined some.
std::string sites_text(const Row& row);

}  // namespace passnet::report
