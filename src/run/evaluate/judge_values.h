// Whether a candidate computes what the graph means: on the recorded values and on others, against the graph at float64.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "graphdir/sample.h"
#include "record/record.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// The two sides of a graph whose outputs were compared on the recorded inputs.
struct ComparedGraph {
  Worker &reference, &candidate;
  std::string id;             // on both
  graphdir::GraphDir& graph;  // whose records learn which contents cannot be redrawn
  const Outputs& found;       // by the candidate
  bool each_draws;            // both make the values of an input kind by themselves, which large ones on a GPU should
  bool keeps_kinds;           // the reference keeps what it gives on an input kind, for others who are judged on it
};

/// Judges `found`, then runs both sides on each input kind of record/input_kinds.h until one shows the candidate to be wrong;
/// afterwards both have the recorded inputs again, and have run on them once. Fills the budgets of the record's outputs
/// and inputs, its input kinds, null_models, fixed_inputs and no_float64.
/// Errors: of the candidate, on the inputs of an input kind too. A graph that the reference cannot run on an input kind goes
/// without it.
Result<void> judge_values(const ComparedGraph& compared, uint64_t seed, std::chrono::milliseconds timeout,
                          record::RunRecord& record);

/// Judges `found` alone, which asks nothing of the candidate. Fills the budgets of the record's outputs and inputs, and
/// no_float64.
Result<void> judge_recorded_values(const ComparedGraph& compared, std::chrono::milliseconds timeout,
                                   record::RunRecord& record);

}  // namespace passnet::run
