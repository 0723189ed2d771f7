#include "selftest/evaluate_bundle.h"

#include <utility>

#include "base/strings.h"
#include "record/verdict.h"
#include "run/worker/worker.h"

namespace passnet::selftest {

BundleEvaluator::BundleEvaluator(const run::EvaluateOptions& options) : options_(options), workers_(options_) {}

Result<record::RunRecord> BundleEvaluator::evaluate(const Bundle& bundle, const run::Layers& without,
                                                    run::GraphTensors* tensors) {
  run::EvaluateOptions options = options_;
  options.without = without;
  if (bundle.timeout_s > 0) options.timeout_s = bundle.timeout_s;
  std::optional<record::RunRecord> made;
  run::EvaluateHooks hooks;
  hooks.finished = [&](const record::RunRecord& record) -> Result<void> {
    made = record;
    return {};
  };
  PASSNET_TRY_VOID(run::evaluate_sample(bundle.sample, options, workers_, hooks));
  return std::move(*made);
}

Result<Found> BundleEvaluator::find(const Bundle& bundle, const run::Layers& without) {
  PASSNET_TRY(const record::RunRecord record, evaluate(bundle, without));
  return Found{record::headline(record), first_line(record.error), record.evaluate_seconds};
}

BundleEvaluators::BundleEvaluators(const run::EvaluateOptions& options, int jobs)
    : options_(options), evaluators_(static_cast<size_t>(jobs)) {}

BundleEvaluator& BundleEvaluators::at(size_t job) {
  std::unique_ptr<BundleEvaluator>& evaluator = evaluators_[job];
  if (evaluator) return *evaluator;
  run::EvaluateOptions own = options_;
  const std::vector<int> processors = run::available_processors();
  if (!processors.empty()) own.processors = {processors[job % processors.size()]};
  own.threads = 1;
  evaluator = std::make_unique<BundleEvaluator>(own);
  return *evaluator;
}

}  // namespace passnet::selftest
