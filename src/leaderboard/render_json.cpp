#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "leaderboard/render.h"

namespace passnet::leaderboard {

namespace {

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(); }

Json to_json(const Scores& scores) {
  return {{"ours", or_null(scores.ours)},
          {"unforgiven", or_null(scores.unforgiven)},
          {"upstream", or_null(scores.upstream)},
          {"published", or_null(scores.published)}};
}

Json to_json(const std::optional<RankCorrelation>& found) {
  return found ? Json{{"spearman", found->spearman}, {"kendall", found->kendall}} : Json();
}

Json to_json(const LeftOutCounts& counts) {
  return {{"not_evaluated", counts.unevaluated},
          {"not_ranked", counts.ours},
          {"untimed", counts.untimed},
          {"uncompared", counts.uncompared}};
}

Json to_json(const TaskStanding& task) {
  Json caught = Json::object(), reasons = Json::array();
  for (const auto& [word, count] : task.caught) caught[word] = count;
  for (const std::string& reason : task.reasons) reasons.push_back(valid_utf8(reason));
  return {{"task", valid_utf8(task.task)},
          {"graphs", task.graphs},
          {"summary", record::to_json(task.summary)},
          {"scores", to_json(task.scores)},
          {"left_out", to_json(task.left_out)},
          {"caught", std::move(caught)},
          {"reasons", std::move(reasons)}};
}

Json to_json(const ModelStanding& model) {
  Json tasks = Json::array();
  for (const TaskStanding& task : model.tasks) tasks.push_back(to_json(task));
  return {{"model", valid_utf8(model.model)},
          {"summary", record::to_json(model.summary)},
          {"scores", to_json(model.scores)},
          {"published_headline", or_null(model.published_table)},
          {"left_out", to_json(model.left_out)},
          {"task_ranks", {{"ours", to_json(model.ours)}, {"upstream", to_json(model.upstream)}}},
          {"tasks", std::move(tasks)}};
}

}  // namespace

std::string render_json(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable) {
  Json models = Json::array(), not_evaluated = Json::array();
  for (const ModelStanding& model : board.models) models.push_back(to_json(model));
  for (const TaskSet::Unusable& one : unusable)
    not_evaluated.push_back({{"task", valid_utf8(one.task)}, {"why", valid_utf8(one.why)}});
  return dump(Json{{"models", std::move(models)},
                   {"model_ranks", {{"ours", to_json(board.ours)}, {"upstream", to_json(board.upstream)}}},
                   {"not_evaluated", std::move(not_evaluated)}},
              2) +
         "\n";
}

}  // namespace passnet::leaderboard
