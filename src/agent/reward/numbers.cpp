#include "agent/reward/numbers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/feedback/feedback.h"
#include "record/score/summary.h"

namespace passnet::agent {

Result<Json> reward_numbers(const Records& records) {
  const Outcome outcome = outcome_of(records);
  if (!outcome.measured())
    return resource_error(fmt::format("{} of {} graphs could not be measured, expected a time of each",
                                      outcome.unmeasured, outcome.graphs))
        .with_hint("other programs disturb this machine: try again when it is idle");
  const record::Summary summary = record::summary_of(records);
  return Json{{"reward", outcome.score},
              {"score", outcome.score},
              {"correct", static_cast<double>(outcome.correct) / static_cast<double>(outcome.graphs)},
              {"coverage", summary.reach ? summary.share(summary.reach->applied) : 0.0},
              {"fast_1", summary.share(summary.fast)}};
}

}  // namespace passnet::agent
