#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "record/score/score.h"

namespace passnet::record {

Json to_json(const Score& score, const std::string& id) {
  Json points = Json::array();
  for (const ScorePoint& point : score.points) {
    points.push_back({{"t", point.t},
                      {"s", point.s},
                      {"es", point.es},
                      {"es_macro", point.es_macro},
                      {"forms_agree", point.forms_agree},
                      {"lambda", point.correct_share},
                      {"alpha", point.correct_share > 0 ? Json(point.alpha) : Json()},
                      {"beta", point.eta > 0 ? Json(point.beta) : Json()},
                      {"eta", point.eta},
                      {"gamma", point.gamma},
                      {"error_shares", point.error_shares}});
  }
  return {{"id", valid_utf8(id)},
          {"score", score.aggregated},
          {"score_linear", score.aggregated_linear},
          {"passbench_score", score.passbench},
          {"interpretation", score.interpretation == Interpretation::Default ? "default" : "mismatch_extended"},
          {"total", score.total},
          {"correct", score.correct},
          {"correct_share", score.correct_share},
          {"fast_share", score.fast_share},
          {"geomean_speedup", score.geomean_speedup ? Json(*score.geomean_speedup) : Json()},
          {"forms_agree", score.forms_agree},
          {"points", std::move(points)}};
}

}  // namespace passnet::record
