#include "leaderboard/evaluate.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "run/run_directory.h"

namespace passnet::leaderboard {

namespace {

/// All at once: a directory that holds another run is told before hours are spent on the models before it.
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
  std::vector<ModelRecords> models;
  for (size_t i = 0; i < request.submissions.size(); ++i) {
    const Submission& submission = request.submissions[i];
    std::vector<graphdir::Sample> samples;
    for (const graphdir::Sample& task : request.tasks) samples.push_back(with_passes(task, submission));
    run::BatchOptions batch = request.batch;
    batch.out = directories[i].path();
    run::BatchResult done = run::evaluate_batch(std::move(samples), batch, hooks_of(submission.model));
    if (done.error) return std::move(*done.error).with_note(fmt::format("while evaluating {}", submission.model));
    models.push_back(by_task(request, submission, std::move(done.records)));
  }
  return models;
}

}  // namespace passnet::leaderboard
