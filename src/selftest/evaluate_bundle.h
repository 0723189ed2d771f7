// One bundle, evaluated as `passnet eval` evaluates a sample.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "record/record.h"
#include "run/evaluate/evaluate.h"
#include "run/evaluate/evaluation_workers.h"
#include "selftest/corpus.h"

namespace passnet::selftest {

/// What became of a bundle.
struct Found {
  std::string verdict;  // record::headline
  std::string reason;   // the record's error, several lines; empty: it has none
  double seconds = 0;
};

/// An evaluation in full.
struct Evaluated {
  record::RunRecord record;
  std::string results;  // a hash of what the checked call returned; empty: it did not come to that
};

/// The workers of one job, kept from bundle to bundle as those of a batch are.
class BundleEvaluator {
 public:
  explicit BundleEvaluator(const run::EvaluateOptions& options);
  /// without: layers that are off. Errors: Resource: the workers cannot be started; "interrupted".
  Result<Evaluated> evaluate(const Bundle& bundle, const run::Layers& without = {});
  Result<Found> find(const Bundle& bundle, const run::Layers& without = {});

 private:
  struct StartedWorkers {
    explicit StartedWorkers(run::EvaluateOptions of) : options(std::move(of)), workers(options) {}
    run::EvaluateOptions options;
    run::EvaluationWorkers workers;
  };
  run::EvaluationWorkers& workers(const run::Layers& without, run::HostCode host_code);

  const run::EvaluateOptions options_;
  /// Workers stay what they were started as: those without a layer of workers are others.
  std::map<std::pair<run::Layers, run::HostCode>, std::unique_ptr<StartedWorkers>> workers_;
};

/// One evaluator for each job, made when it is first asked for. Each has one processor of its own where there are so
/// many, and its kernels one thread: what is looked at here are verdicts, not times.
class BundleEvaluators {
 public:
  BundleEvaluators(const run::EvaluateOptions& options, int jobs);
  BundleEvaluator& at(size_t job);

 private:
  const run::EvaluateOptions& options_;
  std::vector<std::unique_ptr<BundleEvaluator>> evaluators_;
};

}  // namespace passnet::selftest
