#include "selftest/selftest.h"

#include <algorithm>
#include <map>
#include <span>

#include "record/verdict.h"
#include "run/batch/job.h"

namespace passnet::selftest {

bool Outcome::is_right(bool all_layers) const {
  if (!all_layers && !bundle->is_control()) return !is_through(*bundle, found.verdict);
  const auto is_found = [&](const std::string& word) { return record::is_named(found.verdict, word); };
  return std::ranges::any_of(bundle->verdict, is_found) && found.reason.find(bundle->reason) != std::string::npos;
}

Result<std::vector<Outcome>> run_selftest(const std::vector<Bundle>& bundles, const SelftestOptions& options,
                                          const std::function<void(const Outcome&)>& finished) {
  BundleEvaluators evaluators(options.evaluate, options.jobs);
  std::vector<Outcome> outcomes;
  PASSNET_TRY_VOID(run::for_each_item(
      std::span(bundles), {options.jobs, options.evaluate.interrupted},
      [&](const Bundle& bundle, size_t job) -> Result<Outcome> {
        BundleEvaluator& evaluator = evaluators.at(job);
        Outcome outcome{&bundle, {}, {}};
        PASSNET_TRY(outcome.found, evaluator.find(bundle, options.without));
        for (const run::Layer layer : bundle.layers) {
          if (!options.ablate) break;
          run::Layers without = options.without;
          without.insert(layer);
          PASSNET_TRY(Found found, evaluator.find(bundle, without));
          outcome.ablated.push_back({layer, std::move(found)});
        }
        return outcome;
      },
      [&](Outcome outcome) -> Result<void> {
        outcomes.push_back(std::move(outcome));
        finished(outcomes.back());
        return {};
      }));
  return outcomes;
}

Rows count_rows(const std::vector<Outcome>& outcomes) {
  std::map<int, bool> rows;
  for (const Outcome& outcome : outcomes) {
    for (const int row : outcome.bundle->rows) {
      bool& caught = rows.try_emplace(row, true).first->second;
      caught = caught && !is_through(*outcome.bundle, outcome.found.verdict);
    }
  }
  Rows counted;
  for (const auto& [row, caught] : rows) {
    counted.all.push_back(row);
    if (caught) counted.caught.push_back(row);
  }
  return counted;
}

}  // namespace passnet::selftest
