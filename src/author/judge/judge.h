// Keeps of written passes those that are right and faster, by records of evaluations; leaves everything else alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "record/record.h"

namespace passnet::author {

using Records = std::vector<record::RunRecord>;
/// Evaluates the passes that stand in sample.pass_dir. Errors: Resource: the machine's, or interrupted.
using Evaluate = std::function<Result<Records>(const graphdir::Sample& sample)>;

struct PassVerdict {
  std::string pass;
  bool kept = false;
  std::string why;   // "1.84x over 6 graphs"; "b1_float16 is slower: 0.71x (95 %: 0.68 to 0.75)"
  double ratio = 0;  // geometric mean of the graphs that it was timed on, alone or with the others; 0: none
};

struct Judged {
  std::vector<PassVerdict> passes;  // in the order in which they were given
  Records records;                  // of the passes that are kept, together; empty: none is
};

/// names: of passes in sample.pass_dir. Their list there is what is kept at the end, an empty one where nothing is; files
/// of the others are removed. Where all of them together are not right and faster on every graph, each is tried alone.
/// Errors: Io; of `evaluate`.
Result<Judged> judge_passes(const graphdir::Sample& sample, const std::vector<std::string>& names,
                            const Evaluate& evaluate);

}  // namespace passnet::author
