// Submissions evaluated task by task and graph by graph, each model's records in a run of its own below one directory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "leaderboard/standing.h"
#include "leaderboard/submission.h"
#include "leaderboard/tasks.h"
#include "run/batch/batch.h"

namespace passnet::leaderboard {

struct EvaluateRequest {
  std::vector<Submission> submissions;
  std::vector<graphdir::Sample> tasks;
  run::BatchOptions batch;  // out: the models' runs are OUT/MODEL, their records OUT/MODEL/TASK/records.jsonl
  bool force = false;       // what runs before left there is deleted
};

/// hooks_of: the hooks of a model's run, asked for before any begins.
/// A pass, a list of passes or a task that is missing is the failure of its graphs, in their records.
/// Errors: BadInput (OUT/MODEL holds other records, and neither resume nor force), as run::evaluate_batches; what was
/// finished is kept.
Result<std::vector<ModelRecords>> evaluate(const EvaluateRequest& request,
                                           const std::function<run::BatchHooks(const std::string& model)>& hooks_of);

}  // namespace passnet::leaderboard
