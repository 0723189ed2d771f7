#include "author/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "author/reach/reach.h"
#include "tests/author/scripted.h"

namespace passnet::author {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

Written written(const std::string& name, const std::vector<std::string>& graphs) {
  Written one;
  one.name = name;
  for (const std::string& graph : graphs) one.python.sites.emplace_back(graph, "");
  return one;
}

TEST(LeftAlone, NamesOfEveryGraphWithoutAPassWhy) {
  Authored authored;
  authored.passes = {written("kept", {"fast", "slow"}), written("dropped", {"slow", "measured", "wrong"})};
  authored.left = {{"y = a @ b", "no kernel can be written for 'matmul'", {"product", "slow"}},
                   {"z = y @ b", "no kernel can be written for 'matmul'", {"product"}}};
  Judged judged;
  judged.passes = {{"kept", true, "2.00x over 1 graph", 2, {{"slow", "0.71x"}}, {}},
                   {"dropped", false, "wrong is not right", 0, {}, {{"measured", "0.97x"}}}};
  const std::map<std::string, std::string> alone =
      left_alone({"fast", "slow", "measured", "wrong", "product", "empty"}, authored, &judged);
  EXPECT_THAT(alone,
              ElementsAre(Pair("empty", "nothing in it is computed"), Pair("measured", "dropped is no faster: 0.97x"),
                          Pair("product",
                               "no pass was written, 2 operators were left: y = a @ b: no kernel can be "
                               "written for 'matmul'"),
                          Pair("slow", "kept declines it: 0.71x; dropped: wrong is not right"),
                          Pair("wrong", "dropped: wrong is not right")));
  // Nothing was judged: what was written stands.
  EXPECT_THAT(left_alone({"fast", "slow", "measured", "wrong", "product"}, authored, nullptr), SizeIs(1));
}

TEST(Roofline, HoldsTheBytesAgainstACopyAndWhatWasMeasured) {
  const MachineSpeed speed{{{1 << 20, 50}, {1 << 27, 10}}, 5, 0.5};
  record::RunRecord record;
  record.profile = record::Profile{9,
                                   {{"p", "k1", 1, 2, 3.0, 0, 0},
                                    {"q", "k", 1, 0, 7.0, 0, 0},
                                    {"p", "k2", 1, 2, 1.0, 0, 0},
                                    {"p", "k1", 1, 3, 3.0, 0, 0}},
                                   {}};
  const std::optional<Roofline> roofline = roofline_of("p", 100'000'000, 2, &record, speed);
  ASSERT_TRUE(roofline);
  EXPECT_DOUBLE_EQ(roofline->gb_per_s, 10);
  EXPECT_DOUBLE_EQ(roofline->bytes_us, 10'000);
  EXPECT_DOUBLE_EQ(roofline->launches_us, 5.5);
  EXPECT_EQ(roofline->measured_us, 4.0);  // of its first place alone
  EXPECT_FALSE(roofline_of("p", 1000, 1, nullptr, speed)->measured_us);
  EXPECT_FALSE(roofline_of("p", 1000, 1, &record, {}));
}

record::RunRecord held(const std::string& pass, double error, double of_eager) {
  record::RunRecord one = timed("g", 2);
  one.passes = {{pass, 1, 0, ""}, {"other", 0, 0, ""}};
  one.outputs[0].budget = record::ErrorBudget{"recorded", {.norm = of_eager}, {}, {.norm = error}};
  return one;
}

TEST(Precision, HoldsErrorsAgainstThoseOfPyTorch) {
  Records records = {held("p", 1e-3, 2e-3), held("p", 3e-3, 1e-3), held("q", 1, 1), timed("exact", 2)};
  const std::optional<Precision> precision = precision_of(records, "p");
  ASSERT_TRUE(precision);
  EXPECT_EQ(precision->graphs, 2u);
  EXPECT_EQ(precision->larger, 1u);
  EXPECT_DOUBLE_EQ(precision->error, 3e-3);
  EXPECT_DOUBLE_EQ(precision->of_eager, 2e-3);
  EXPECT_DOUBLE_EQ(precision->factor, 3);
  EXPECT_EQ(precision_of(records)->graphs, 3u);
  EXPECT_FALSE(precision_of(records, "other"));
  records[1].no_float64 = "it reads bits";
  EXPECT_EQ(precision_of(records, "p")->larger, 0u);
  EXPECT_EQ(precision_of(records, "p")->factor, 1);
  records[0] = held("p", 1e-3, 0);
  EXPECT_TRUE(std::isinf(precision_of(records, "p")->factor));
}

TEST(Reach, DrawsEvenly) {
  EXPECT_THAT(drawn_evenly({3, 4, 5}, 3), ElementsAre(3, 4, 5));
  EXPECT_THAT(drawn_evenly({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2), ElementsAre(2, 7));
  EXPECT_THAT(drawn_evenly({0, 1, 2}, 0), SizeIs(0));
}

TEST(AuthorSummary, CountsAndAveragesWhatWasJudged) {
  const auto report = [](const Json& score, double seconds, bool kept, const char* why) {
    return Json{
        {"score", score},
        {"counts", score != 9.0},
        {"seconds", seconds},
        {"precision",
         kept ? Json{{"graphs", 2}, {"error", 2e-7}, {"of_eager", 1e-7}, {"larger", 1}, {"factor", 2}} : Json()},
        {"form", kept ? "plain" : "without products"},
        {"budget", {{"seconds", 3}, {"ended", !kept}}},
        {"passes", {{{"kept", kept}, {"why", why}, {"library", {"torch.conv2d"}}}}},
        {"left", {{{"why", "no kernel can be written for 'conv2d'"}}}}};
  };
  const AuthorSummary summary =
      summary_of({report(4.0, 1, true, ""), report(1.0, 3, false, "a/g1 is not right: 0.93x"),
                  report(1.0, 2, false, "b/g2 is not right: 0.41x"), report(9.0, 2, true, "")});
  EXPECT_EQ(summary.samples, 4u);
  EXPECT_EQ(summary.judged, 3u);
  EXPECT_EQ(summary.uncounted, 1u);
  EXPECT_EQ(summary.without_pass, 2u);
  EXPECT_EQ(summary.kept, 2u);
  EXPECT_EQ(summary.library, 2u);
  EXPECT_EQ(summary.below_one, 0u);
  EXPECT_EQ(summary.ended_by_budget, 2u);
  EXPECT_EQ(summary.precision.graphs, 4u);
  EXPECT_EQ(summary.precision.larger, 2u);
  EXPECT_DOUBLE_EQ(summary.precision.factor, 2);
  EXPECT_THAT(summary.forms, ElementsAre(Pair("plain", 2), Pair("without products", 2)));
  EXPECT_NEAR(summary.score, std::cbrt(4), 1e-9);
  EXPECT_DOUBLE_EQ(summary.seconds_per_sample, 2);
  EXPECT_THAT(summary.causes,
              ElementsAre(Pair("left: no kernel can be written for 'conv2d'", 4), Pair("… is not right: …", 2)));
}

}  // namespace
}  // namespace passnet::author
