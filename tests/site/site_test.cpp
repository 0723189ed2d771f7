#include <gmock/gmock.h>

#include "site/board.h"
#include "site/chart.h"
#include "site/code.h"
#include "site/drawing.h"
#include "site/estimate.h"
#include "site/page.h"
#include "site/pages.h"

namespace passnet::site {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Slugs, KeepsPlainNamesAndTellsOthersApart) {
  Slugs slugs;
  EXPECT_EQ(slugs.of("gpt2_gelu-v1.5"), "gpt2_gelu-v1.5");
  EXPECT_THAT(slugs.of("a b"), testing::MatchesRegex("xa_b-[0-9a-f]+"));
  EXPECT_NE(slugs.of("c/d"), slugs.of("c_d"));
  EXPECT_EQ(slugs.of("GPT2_gelu-v1.5"), "GPT2_gelu-v1.5_2") << "file systems that ignore case";
  EXPECT_THAT(slugs.of("../../etc/passwd"), testing::StartsWith("x"));
  EXPECT_LT(slugs.of(std::string(5000, 'n')).size(), 120u);
  EXPECT_EQ(Slugs().of("a b"), Slugs().of("a b")) << "links stay";
}

TEST(Estimate, CountsTasksAlike) {
  const Estimate one = estimate({{"a", {2, 2, 2, 2}}, {"b", {8}}});
  EXPECT_NEAR(one.ratio, 4, 1e-9);
  EXPECT_EQ(one.tasks, 2u);
  EXPECT_EQ(one.graphs, 5u);
  EXPECT_FALSE(one.differs()) << "two tasks say little";
  const Estimate many = estimate({{"a", {2}}, {"b", {2.1}}, {"c", {1.9}}, {"d", {2}}});
  EXPECT_TRUE(many.differs());
  EXPECT_GT(many.interval.low, 1.8);
  EXPECT_LT(many.interval.high, 2.2);
  EXPECT_FALSE(estimate({{"a", {2}}}).interval.known());
  EXPECT_EQ(estimate({}).ratio, 0);
}

TEST(Estimate, HasStudentsQuantiles) {
  EXPECT_NEAR(student_quantile(1), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(11), 2.201, 3e-3);
  EXPECT_NEAR(student_quantile(30), 2.042, 1e-3);
  EXPECT_NEAR(student_quantile(1000), 1.962, 1e-3);
}

TEST(Code, MarksWordsTextsNumbersAndComments) {
  EXPECT_EQ(highlight("def f(x): return 1.5 # <b>\n", Language::Python),
            "<span class=\"k\">def</span> f(x): <span class=\"k\">return</span> <span class=\"n\">1.5</span> "
            "<span class=\"c\"># &lt;b&gt;</span>\n");
  EXPECT_EQ(highlight("\"a\\\"b\" 'c'", Language::Cpp),
            "<span class=\"s\">&quot;a\\&quot;b&quot;</span> <span class=\"s\">&#39;c&#39;</span>");
  EXPECT_EQ(highlight("/* a", Language::Cpp), "<span class=\"c\">/* a</span>");
  EXPECT_EQ(highlight("#include <x>\na / b // c", Language::Cpp),
            "<span class=\"k\">#include </span>&lt;x&gt;\na / b <span class=\"c\">// c</span>");
  EXPECT_EQ(highlight("\"open\nnext", Language::Python), "<span class=\"s\">&quot;open</span>\nnext");
  EXPECT_EQ(language_of("a.py"), Language::Python);
  EXPECT_EQ(language_of("a.cu"), Language::Cpp);
}

TEST(Drawing, ShowsOperatorsAndLeavesWeightsOut) {
  const std::string svg = render_drawing(
      "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x: torch.Tensor, w_0: torch.Tensor):\n"
      "        y = torch.nn.functional.linear(x, w_0)\n        y += 1\n        return (y,)\n");
  EXPECT_THAT(svg, HasSubstr(">linear</text>"));
  EXPECT_THAT(svg, HasSubstr("class=\"box inplace\""));
  EXPECT_THAT(svg, Not(HasSubstr("w_0")));
  EXPECT_EQ(render_drawing("no graph"), "");
}

TEST(Page, DataCannotEndItsElement) {
  EXPECT_EQ(script_json("x", "</script><b>"),
            "<script type=\"application/json\" id=\"x\">\"\\u003c/script>\\u003cb>\"</script>\n");
}

TEST(Page, NamesFilesOfTheSiteAlone) {
  const std::string page = render_page({"tasks/a.html", "<a>"}, "body");
  EXPECT_THAT(page, HasSubstr("href=\"../style.css\""));
  EXPECT_THAT(page, HasSubstr("<title>&lt;a&gt;: PassNet</title>"));
  EXPECT_THAT(page, Not(HasSubstr("History")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(Page, SaysWhatBoundsAShareOfTheLimit) {
  EXPECT_EQ(limit_html(0.414, record::Bound::Memory), "41 %<small>memory</small>");
  EXPECT_EQ(limit_html(1.2, record::Bound::Arithmetic), "120 %<small>arithmetic</small>");
}

TEST(Pairs, AreOfOneDeviceAndFewOfManyEntries) {
  Board board;
  for (int i = 0; i < 3; ++i) board.entries.emplace_back().hardware = i < 2 ? "cpu" : "gpu";
  EXPECT_EQ(pairs_of(board), (std::vector<Pair>{{0, 1}}));
  board.entries.clear();
  for (size_t i = 0; i < 40; ++i) board.entries.emplace_back().rank = i + 1;
  EXPECT_EQ(pairs_of(board).size(), 39u + 38u) << "with the best, and neighbours";
}

TEST(History, DrawsARunAloneAndEqualRuns) {
  for (const size_t count : {size_t{1}, size_t{3}}) {
    const std::string chart =
        render_history_chart(std::vector<HistoryPoint>(count, {"2026-01-02T03:04:05Z", "a", 2}), "Score");
    EXPECT_THAT(chart, HasSubstr("2026-01-02"));
    EXPECT_THAT(chart, Not(HasSubstr("nan")));
  }
}

}  // namespace
}  // namespace passnet::site
