#include "selftest/evaluate_bundle.h"

#include "base/hash.h"
#include "base/processors.h"
#include "base/text/strings.h"
#include "record/verdict.h"
#include "run/worker/worker.h"
#include "wire/bundle.h"

namespace passnet::selftest {

namespace {

Result<std::string> hash_of(const run::Bundle& tensors) {
  if (!tensors.fd) return std::string();
  PASSNET_TRY(const wire::Mapping memory, wire::Mapping::map(tensors.fd.get(), tensors.size_bytes, false));
  std::string hashes;
  for (const wire::Entry& entry : tensors.entries) {
    const auto* const bytes = reinterpret_cast<const char*>(memory.data() + entry.offset);
    hashes += entry.name + sha256_hex({bytes, static_cast<size_t>(entry.size_bytes())});
  }
  return sha256_hex(hashes);
}

}  // namespace

BundleEvaluator::BundleEvaluator(const run::EvaluateOptions& options) : options_(options) {}

run::EvaluationWorkers& BundleEvaluator::workers(const run::Layers& without, run::HostCode host_code) {
  run::EvaluateOptions options = options_;
  options.host_code = host_code;
  for (const run::Layer layer :
       {run::Layer::OperatorList, run::Layer::WorkerJail, run::Layer::PythonRoot, run::Layer::PythonFilter}) {
    if (without.contains(layer)) options.without.insert(layer);
  }
  std::unique_ptr<StartedWorkers>& started = workers_[{options.without, host_code}];
  if (!started) started = std::make_unique<StartedWorkers>(std::move(options));
  return started->workers;
}

Result<Evaluated> BundleEvaluator::evaluate(const Bundle& bundle, const run::Layers& without) {
  run::EvaluateOptions options = options_;
  options.without = without;
  if (bundle.timeout_s > 0) options.timeout_s = bundle.timeout_s;
  options.allow_library = bundle.allow_library;
  if (bundle.in_python) options.host_code = run::HostCode::Python;
  Evaluated evaluated;
  run::EvaluateHooks hooks;
  hooks.finished = [&](const record::RunRecord& record) -> Result<void> {
    evaluated.record = record;
    return {};
  };
  hooks.tensors = [&](const std::string&, const run::GraphTensors& tensors) -> Result<void> {
    PASSNET_TRY(evaluated.results, hash_of(tensors.found));
    return {};
  };
  PASSNET_TRY_VOID(run::evaluate_sample(bundle.sample, options, workers(without, options.host_code), hooks));
  return evaluated;
}

Result<Found> BundleEvaluator::find(const Bundle& bundle, const run::Layers& without) {
  PASSNET_TRY(const Evaluated evaluated, evaluate(bundle, without));
  const record::RunRecord& record = evaluated.record;
  return Found{record::headline(record), record.error, record.evaluate_seconds};
}

BundleEvaluators::BundleEvaluators(const run::EvaluateOptions& options, int jobs)
    : options_(options), evaluators_(static_cast<size_t>(jobs)) {}

BundleEvaluator& BundleEvaluators::at(size_t job) {
  std::unique_ptr<BundleEvaluator>& evaluator = evaluators_[job];
  if (evaluator) return *evaluator;
  run::EvaluateOptions own = options_;
  const std::vector<int> processors = available_processors();
  if (!processors.empty()) own.processors = {processors[job % processors.size()]};
  own.threads = 1;
  evaluator = std::make_unique<BundleEvaluator>(own);
  return *evaluator;
}

}  // namespace passnet::selftest
