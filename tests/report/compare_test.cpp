#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace passnet::report {
namespace {

using record::Change;
using testing::HasSubstr;

record::ComparedSide side(double speedup) {
  return {"correct", true, speedup, {speedup * 0.98, speedup * 1.02}, false};
}

// Field by field: GCC 12 takes members of a temporary made in a push_back for uninitialized.
record::Comparison compared(const char* graph, Change change) {
  record::Comparison made;
  made.sample = "s";
  made.graph = graph;
  made.change = change;
  return made;
}

record::RunComparison example() {
  record::Comparison quicker = compared("quicker", Change::Faster);
  quicker.a = side(1);
  quicker.b = side(2);
  quicker.ratio = 2;
  quicker.interval = {1.9, 2.1};
  record::Comparison bad = compared("bad,\"one\" <b>", Change::Wrong);
  bad.a = side(2);
  bad.b.headline = "wrong";
  bad.why = "is 'wrong'";
  record::Comparison alone = compared("alone", Change::OnlyB);
  alone.b = side(3);
  return {{quicker, bad, alone}, {"kernel x.cpp changed"}};
}
const RunNames kNames{"before", "after<i>"};

TEST(Comparison, TableTellsTheWorstFirstAndCounts) {
  const std::string table = render_comparison(example(), kNames, false);
  EXPECT_LT(table.find("WRONG"), table.find("FASTER"));
  EXPECT_THAT(
      table,
      HasSubstr("FASTER     quicker        2.000x (1.90x to 2.10x)  1.00x (0.98x to 1.02x)  2.00x (1.96x to 2.04x)\n"));
  EXPECT_THAT(table, HasSubstr("\n1 WRONG, 1 FASTER, 1 ONLY IN B\n"));
  EXPECT_THAT(table, HasSubstr("B is made of other things than A:\n  kernel x.cpp changed\n"));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
}

TEST(Comparison, ColorsSayGoodAndBad) {
  const std::string table = render_comparison(example(), kNames, true);
  EXPECT_THAT(table, HasSubstr("\x1b[31mWRONG"));
  EXPECT_THAT(table, HasSubstr("\x1b[32mFASTER"));
}

TEST(Comparison, JsonHoldsEverything) {
  const Json json = *parse_json(render_comparison_json(example(), kNames), "comparison");
  EXPECT_EQ(json["worse"], true);
  EXPECT_EQ(json["counts"]["FASTER"], 1);
  EXPECT_EQ(json["counts"]["SLOWER"], 0);
  EXPECT_EQ(json["graphs"][0]["ratio"], 2.0);
  EXPECT_EQ(json["graphs"][0]["b"]["speedup"], 2.0);
  EXPECT_EQ(json["graphs"][1]["why"], "is 'wrong'");
  EXPECT_FALSE(json["graphs"][1].contains("ratio"));
  EXPECT_TRUE(json["graphs"][2]["a"].is_null());
}

TEST(Comparison, PageEscapesNames) {
  const std::string page = render_comparison_html(example(), kNames);
  EXPECT_THAT(page, HasSubstr("bad,&quot;one&quot; &lt;b&gt;"));
  EXPECT_THAT(page, HasSubstr("B: after&lt;i&gt;"));
  EXPECT_THAT(page, HasSubstr("<td class=\"verdict bad\">WRONG</td>"));
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace passnet::report
