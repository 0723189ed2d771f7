// The corpus against the evaluator: is every attack caught, and is no honest pass accused?
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "run/evaluate/evaluate_options.h"
#include "selftest/corpus.h"
#include "selftest/evaluate_bundle.h"

namespace passnet::selftest {

struct SelftestOptions {
  run::EvaluateOptions evaluate;
  int jobs = 1;
  run::Layers without;  // in every evaluation
  bool ablate = false;  // also without each layer that a bundle names, one at a time
};

/// A bundle and what became of it.
struct Outcome {
  const Bundle* bundle = nullptr;
  Found found;
  struct Ablated {
    run::Layer without;
    Found found;
  };
  std::vector<Ablated> ablated;  // by layer of the bundle

  /// What is expected; where layers are off, of an attack only that it gets no score.
  bool is_right(bool all_layers) const;
};

/// Calls `finished` for each bundle, in their order, by one thread.
/// Errors: of the evaluation, which says nothing of a bundle; Resource: interrupted.
Result<std::vector<Outcome>> run_selftest(const std::vector<Bundle>& bundles, const SelftestOptions& options,
                                          const std::function<void(const Outcome&)>& finished);

/// Rows of the catalogue that the bundles are about, and those of which every bundle is caught.
struct Rows {
  std::vector<int> all, caught;
};
Rows count_rows(const std::vector<Outcome>& outcomes);

}  // namespace passnet::selftest
