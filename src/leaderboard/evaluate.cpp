#include "leaderboard/evaluate.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "run/keep/run_directory.h"

namespace passnet::leaderboard {

namespace {

/// All at once: a directory that holds another run is told before hours are spent.
Result<std::vector<run::RunDirectory>> open_directories(const EvaluateRequest& request) {
  std::vector<run::RunDirectory> directories;
  for (const Submission& submission : request.submissions) {
    run::RunRequest one;
    one.out = request.batch.out / submission.model;
    for (const graphdir::Sample& task : request.tasks) one.samples.push_back(task.name);
    one.resume = request.batch.resume;
    one.force = request.force;
    PASSNET_TRY(run::RunDirectory directory, run::RunDirectory::open(one));
    directories.push_back(std::move(directory));
  }
  return directories;
}

/// A score.txt that cannot be read is none.
std::optional<double> published_or_none(const Submission& submission, const std::string& task) {
  const Result<std::optional<double>> found = published_score(submission, task);
  if (found) return *found;
  log::warn(fmt::format("no published score: {}", to_string(found.error())));
  return std::nullopt;
}

ModelRecords by_task(const EvaluateRequest& request, const Submission& submission,
                     std::vector<record::RunRecord> records) {
  ModelRecords model{submission.model, {}};
  std::unordered_map<std::string, size_t> place;
  for (const graphdir::Sample& task : request.tasks) {
    place.emplace(task.name, model.tasks.size());
    model.tasks.push_back({task.name, task.graph_names.size(), {}, published_or_none(submission, task.name)});
  }
  for (record::RunRecord& record : records) model.tasks[place.at(record.sample)].records.push_back(std::move(record));
  return model;
}

}  // namespace

Result<std::vector<ModelRecords>> evaluate(const EvaluateRequest& request,
                                           const std::function<run::BatchHooks(const std::string& model)>& hooks_of) {
  PASSNET_TRY(const std::vector<run::RunDirectory> directories, open_directories(request));
  std::vector<run::BatchRun> runs;
  for (size_t i = 0; i < request.submissions.size(); ++i) {
    const Submission& submission = request.submissions[i];
    run::BatchRun one{submission.model, {}, directories[i].path(), hooks_of(submission.model)};
    for (const graphdir::Sample& task : request.tasks) one.samples.push_back(with_passes(task, submission));
    runs.push_back(std::move(one));
  }
  run::BatchResults done = run::evaluate_batches(std::move(runs), request.batch);
  if (done.error) return std::move(*done.error);
  std::vector<ModelRecords> models;
  for (size_t i = 0; i < request.submissions.size(); ++i)
    models.push_back(by_task(request, request.submissions[i], std::move(done.records[i])));
  return models;
}

}  // namespace passnet::leaderboard
