// Two records of one graph, or two runs: what became better, worse, or cannot be told. Values in, values out.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"
#include "record/score/interval.h"
#include "record/shared_provenance.h"

namespace passnet::record {

/// What became of a graph from A to B.
enum class Change {
  Faster,  // right in both, and faster than the uncertainty of both
  Slower,
  Same,     // right in both, and the speedups differ by less than kSameWithin
  Unclear,  // right in both, and more cannot be said; or one of them is no result of the pass (Comparison::why)
  Right,    // was wrong, is right
  Wrong,    // was right, is wrong
  BothWrong,
  OnlyA,  // no record of it in the other
  OnlyB,
};
inline constexpr int kChanges = 9;
/// "FASTER", "SLOWER", "SAME", "UNCLEAR", "RIGHT", "WRONG", "BOTH WRONG", "ONLY IN A", "ONLY IN B".
const char* to_string(Change change);

/// Speedups closer than this are the same whatever their intervals say: two runs of one thing differ by as much.
inline constexpr double kLeastChange = 0.02;
/// "SAME" says that the change, with all its uncertainty, is below this.
inline constexpr double kSameWithin = 0.10;

struct ComparedSide {
  std::string headline;  // record::headline; empty: no record
  bool correct = false;  // at t = kCorrectT
  double speedup = 0;    // 0: none
  Interval interval;     // of the speedup
  bool noisy = false;
  bool operator==(const ComparedSide&) const = default;
};

struct Comparison {
  std::string sample, graph;
  Change change = Change::Unclear;
  ComparedSide a, b;
  double ratio = 0;   // speedup in B / speedup in A; 0 unless both have one
  Interval interval;  // of the ratio, from the least of B over the most of A to the reverse
  std::string why;    // of Unclear: "noisy in B", "disturbed in A", "0.80x to 1.30x of A"; of Wrong and BothWrong: how
  bool operator==(const Comparison&) const = default;
};

/// The digest of a record for a comparison, without times and outputs. Small: all of a run are held at once.
struct ComparedRecord {
  std::string sample, graph;
  ComparedSide side;
  std::string environment_failure;  // its kind, where the machine failed (is_environment_failure); empty: it did not
  bool out = false;                 // right or wrong, it counts for nothing
  bool disturbed = false, below_floor = false, uneven = false;
  std::shared_ptr<const Provenance> made_of;  // null: the record does not say; its graph has names alone
  std::vector<size_t> graph_hashes;           // std::hash of those of the files in made_of->graph, in their order
};

/// Returns: the digest without `made_of`.
ComparedRecord compared_record(const RunRecord& record);

/// REQUIRES: records of one graph. What is compared is the speedup over the reference, which is taken beside the
///           candidate each time, so runs of different days are comparable as times are not.
Comparison compare(const RunRecord& a, const RunRecord& b);
Comparison compare(ComparedRecord a, ComparedRecord b);

/// The records of a run, as far as they are compared, in the order in which their graphs came first. Of several records
/// of one graph the last counts.
class ComparedRun {
 public:
  ComparedRun() = default;
  ComparedRun(ComparedRun&&) = default;  // and no copy: it would point into the original
  ComparedRun& operator=(ComparedRun&&) = default;
  void add(const RunRecord& record);
  void add(ComparedRecord compared);
  size_t samples() const { return samples_.size(); }
  /// Removes and returns the first record; none: there are no more.
  std::optional<ComparedRecord> take_first();
  /// Removes and returns the record of the same graph. by_graph_alone: of the only sample here, whatever its name.
  std::optional<ComparedRecord> take(const ComparedRecord& of, bool by_graph_alone);

 private:
  using Entry = std::optional<ComparedRecord>;  // none: taken
  /// By sample and graph, whose names are those of the entries.
  using Samples = std::map<std::string, std::map<std::string_view, Entry*>>;
  std::optional<ComparedRecord> take(Samples::iterator sample, std::string_view graph);

  std::deque<Entry> records_;
  Samples samples_;
  SharedProvenances shared_;
};

struct RunComparison {
  std::deque<Comparison> graphs;         // in the order of A, then what is only in B
  std::vector<std::string> differences;  // what the runs were made of, each told once: "kernel x.cpp changed"
  int count(Change change) const;
  /// A graph is SLOWER or WRONG.
  bool worse() const { return count(Change::Slower) + count(Change::Wrong) > 0; }
};
/// Records are paired by sample and graph; by graph alone when each run holds one sample. Takes both runs apart, as they
/// need as much memory as the comparison.
RunComparison compare_runs(ComparedRun a, ComparedRun b);
RunComparison compare_runs(const std::vector<RunRecord>& a, const std::vector<RunRecord>& b);

/// Whether evaluating a record again gave the same.
struct Agreement {
  bool agrees = true;
  std::vector<std::string> remarks;  // one for each thing looked at: "verdict: correct in both", …
};
/// The same verdict; the same tolerance or a stricter one (t may fall when sums are taken in another order, not rise);
/// and speedups that compare() does not call FASTER or SLOWER.
Agreement agreement(const RunRecord& recorded, const RunRecord& again);

}  // namespace passnet::record
