// One sample -> records: parsed, rewritten, built, run, compared and timed, graph by graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "record/graph_texts.h"
#include "record/record.h"
#include "run/evaluate/evaluate_options.h"
#include "run/evaluate/evaluation_workers.h"
#include "run/worker/requests.h"

namespace passnet::run {

/// The tensors of one graph; a bundle that the evaluation did not come to has no descriptor.
struct GraphTensors {
  const Bundle& inputs;            // by the names in forward
  const Bundle &expected, &found;  // "out_0", …: of the original and of the rewritten graph
};

struct EvaluateHooks {
  std::function<bool(const std::string& graph)> skip;     // already done (resume); may be empty
  std::function<void(const std::string& graph)> started;  // for progress; may be empty
  std::function<Result<void>(const std::string& graph, const record::GraphTexts&)>
      texts;                                                       // stores them, before `finished`; may be empty
  std::function<Result<void>(const record::RunRecord&)> finished;  // stores the record; an error ends the run
  std::function<Result<void>(const std::string& graph, const GraphTensors&)> tensors;  // after `finished`; may be empty
};

/// One of several samples of the same graphs, which have other passes.
struct Candidate {
  const graphdir::Sample& sample;
  EvaluateHooks hooks;
  SourceFiles files = SourceFiles();  // of its passes: sources_of()
};

/// Evaluates every graph of each sample, graph by graph: what the reference does for a graph it does once for all of
/// them. The workers must be of the same options. others_follow: more will be evaluated in them after this.
/// A bad graph, pass or kernel is a record, not an error.
/// Errors: Resource (workers cannot be started), what `finished` gave, and Resource "interrupted".
/// REQUIRES: the samples list the same graphs.
Result<void> evaluate_candidates(const std::vector<Candidate>& candidates, const EvaluateOptions& options,
                                 EvaluationWorkers& workers, bool others_follow = false);

/// Evaluates every graph of the sample in these workers, which must be of the same options. Errors: as
/// evaluate_candidates().
Result<void> evaluate_sample(const graphdir::Sample& sample, const EvaluateOptions& options, EvaluationWorkers& workers,
                             const EvaluateHooks& hooks);
/// The same in workers of its own.
Result<void> evaluate_sample(const graphdir::Sample& sample, const EvaluateOptions& options,
                             const EvaluateHooks& hooks);

}  // namespace passnet::run
