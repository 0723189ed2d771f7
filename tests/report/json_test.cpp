#include "report/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample_records.h"

namespace passnet::report {
namespace {

Json rendered(const std::vector<record::RunRecord>& records) {
  const auto json = parse_json(render_json(records, record::score(record::judge_all(records))), "report");
  EXPECT_TRUE(json);
  return json ? *json : Json();
}

TEST(RenderJson, HoldsTheScoreAndEveryGraph) {
  const Json json = rendered(sample_records());
  EXPECT_EQ(json["score"]["id"], "residual_layer_norm");
  EXPECT_EQ(json["score"]["correct"], 5);
  ASSERT_EQ(json["graphs"].size(), sample_records().size());
  const Json& first = json["graphs"][0];
  EXPECT_EQ(first["graph"], "vit_base_patch16_224/float32/8x197x768");
  EXPECT_EQ(first["verdict"], "correct");
  EXPECT_EQ(first["status"], "correct");
  EXPECT_EQ(first["passes_from"], -6);
  EXPECT_NEAR(first["speedup"].get<double>(), 3.511, 1e-3);
  EXPECT_NEAR(first["reference_us"]["median"].get<double>(), 1412, 1);
  EXPECT_EQ(first["noisy"], false);
  EXPECT_EQ(first["sites"], 1);
  EXPECT_FALSE(first.contains("problem"));
}

TEST(RenderJson, GivesNoSpeedupToWhatIsNotCorrect) {
  for (const Json& graph : rendered(sample_records())["graphs"])
    EXPECT_EQ(graph["speedup"].is_number(), graph["correct"].get<bool>()) << graph["graph"];
}

TEST(RenderJson, TellsWhyAGraphFailed) {
  const Json graphs = rendered(sample_records())["graphs"];
  EXPECT_EQ(graphs[8]["verdict"], "match: no site");
  EXPECT_EQ(graphs[8]["status"], "eager_fail");
  EXPECT_EQ(graphs[8]["stage"], "match");
  EXPECT_EQ(graphs[8]["error_kind"], "no-match");
  EXPECT_FALSE(graphs[8].contains("reference_us"));
  EXPECT_EQ(graphs[7]["max_abs_diff"], "nan");
  EXPECT_EQ(graphs[11]["graph"], kHostileName);
}

TEST(RenderJson, TellsHowMuchOfTheGpuWasTakenAndWhatWasTriedTwice) {
  std::vector<record::RunRecord> records = {measured("a", 20, 10, -10, 0), measured("b", 20, 10, -10, 0)};
  records[1].reference_memory = {3000, 1000};
  records[1].candidate_memory = {5000, 1000};
  records[1].retried = "error: CUDA out of memory";
  const Json graphs = rendered(records)["graphs"];
  EXPECT_FALSE(graphs[0].contains("peak_device_bytes"));
  EXPECT_FALSE(graphs[0].contains("retried"));
  EXPECT_EQ(graphs[1]["peak_device_bytes"]["reference"], 3000);
  EXPECT_EQ(graphs[1]["peak_device_bytes"]["candidate"], 5000);
  EXPECT_EQ(graphs[1]["retried"], "error: CUDA out of memory");
}

TEST(RenderJson, OfNothingIsStillADocument) {
  const Json json = rendered({});
  EXPECT_EQ(json["score"]["total"], 0);
  EXPECT_TRUE(json["graphs"].empty());
}

}  // namespace
}  // namespace passnet::report
