// Keeps of written passes those that are right and faster, by records of evaluations; leaves everything else alone.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "author/judge/evaluations.h"
#include "base/result.h"
#include "graphdir/sample.h"

namespace passnet::author {

/// A written pass. What it is written for must be told apart by it: it may have to leave some of that alone.
struct Candidate {
  std::string name;
  std::string identity;             // ListedPass::identity
  std::vector<std::string> graphs;  // graphs of the sample that its plan can decline
  bool is_doubtful = false;         // such passes often gain nothing: they stand between operators, or hold products
  /// Writes it anew, so that its plan declines these graphs. declined: by name, with why.
  std::function<Result<void>(const std::map<std::string, std::string>& declined)> rewrite;
  std::map<std::string, std::string> declined = {};  // graphs that it declines as it is written, and why
  /// Conditions by which its plan tells each graph from others. Graphs of one condition are declined together.
  /// Empty: it tells all graphs apart.
  std::vector<std::string> conditions = {};
};

struct PassVerdict {
  std::string pass;
  bool kept = false;
  std::string why = {};  // "1.84x over 6 graphs"; "no graph is faster beyond the noise: 1.01x"
  double ratio = 0;      // geometric mean of the graphs that it was timed on, alone or with the others; 0: none
  std::map<std::string, std::string> declined =
      {};                                        // graphs that it leaves alone, and why: "0.71x (95 %: 0.68 to 0.75)"
  std::map<std::string, std::string> slow = {};  // graphs that it was found no faster on, kept or not: "0.71x"
};

struct Judged {
  std::vector<PassVerdict> passes;  // in the order in which they were given
  Records records;                  // of the passes that are kept, together; empty: none is
  double score = 1;                 // of what is kept; a graph that is left alone counts 1
  bool counts = true;               // false: answers that take no work would pass on each graph, none is in a score
  /// Graphs that no evaluation could measure, and why. Passes that may gain there stay.
  std::map<std::string, std::string> unmeasured = {};
  bool ended_by_budget = false;  // what would have been evaluated next was not; records are of the graphs with a pass
};

/// The result of an evaluation for passes, on each graph that they apply to.
enum class Gain : uint8_t { Faster, NotFaster, Wrong, NotMeasured };
struct GraphGain {
  std::string graph;
  Gain gain = Gain::NotMeasured;
  double ratio = 0;  // 0: it has none
  double worth = 1;  // its own score: its ratio, less what results that differ from PyTorch's cost
};
/// Graphs that no pass applies to, or that every plan declines, are not in it.
std::vector<GraphGain> gains_of(const Records& records);

struct JudgeOptions {
  /// Graphs of the sample that are evaluated first where a pass is doubtful or tried alone: one that gains on none of them goes.
  std::vector<std::string> first_look = {};
  /// The passes were evaluated before, and belong together: none is tried alone.
  bool together = false;
};

/// candidates: passes in sample.pass_dir. Their list there is what is kept at the end, an empty one where nothing is; files
/// of the others are removed. Where all of them together are not right and faster on every graph, each is tried alone, and
/// declines the graphs that it makes no faster; one that is wrong anywhere goes. A graph counts as faster by its speed beyond
/// the noise on the host clock, if it is at most a tenth slower on the device clock, and by its own score, in which results that
/// differ from PyTorch's cost something. A graph that could not be measured decides nothing: no pass declines it for that.
/// The final list is evaluated as it stands, until it makes no graph slower. Where no
/// evaluation is begun any more, that set of passes stays which was right on every graph and is worth the most, without the
/// graphs that it is no faster on; nothing else does.
/// Errors: Io; of an evaluation.
Result<Judged> judge_passes(const graphdir::Sample& sample, const std::vector<Candidate>& candidates,
                            Evaluations& evaluations, const JudgeOptions& options = {});

}  // namespace passnet::author
