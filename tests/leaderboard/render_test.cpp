#include "leaderboard/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/record/example_records.h"

namespace passnet::leaderboard {
namespace {

using testing::HasSubstr;
using testing::Not;

Leaderboard example() {
  const auto right = record::record_of("g", 2, {record::output_of("float32", -10)});
  const auto wrong = record::record_of("h", 2, {record::output_of("float32", 6)});
  return rank_models({{"one", {{"same", 1, {right}, 2.0}, {"other", 2, {right, wrong}, 1.5}}},
                      {"two\x1b[31m<b>", {{"same", 1, {wrong}, 0.5}, {"other", 2, {wrong, wrong}, 0.1}}}});
}
const std::vector<TaskSet::Unusable> kUnusable{{"gone", "tasks/gone.txt:1: graph 'x' <is> not there"}};

TEST(Render, TextShowsTasksThatDiffer) {
  const std::string text = render_text(example(), kUnusable);
  EXPECT_THAT(text, HasSubstr("ranks of models beside published: ours Spearman 1.00, Kendall 1.00"));
  EXPECT_THAT(text, HasSubstr("1 of 2: wrong here"));
  EXPECT_THAT(text, HasSubstr("not evaluated: 1 samples\n  gone: tasks/gone.txt:1"));
  EXPECT_THAT(text, HasSubstr("one: 1 of 2 samples score other than published"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Render, WithoutPublishedScoresNothingIsSaidOfThem) {
  const auto right = record::record_of("g", 2, {record::output_of("float32", -10)});
  const Leaderboard board = rank_models({{"one", {{"same", 1, {right}, std::nullopt}}}});
  for (const std::string& text : {render_text(board, {}), render_html(board, {})}) {
    EXPECT_THAT(text, HasSubstr("AS PassBench"));
    EXPECT_THAT(text, Not(HasSubstr("published")));
    EXPECT_THAT(text, Not(HasSubstr("headline")));
    EXPECT_THAT(text, Not(HasSubstr("ranks")));
  }
  EXPECT_THAT(render_html(example(), {}), HasSubstr("<th class=\"number\">headline</th>"));
}

TEST(Render, JsonHoldsEveryFigure) {
  const Json json = try_parse_json(render_json(example(), kUnusable));
  EXPECT_EQ(json.at("models").size(), 2);
  const Json& task = json.at("models").at(0).at("tasks").at(1);
  EXPECT_EQ(task.at("task"), "other");
  EXPECT_EQ(task.at("scores").at("published"), 1.5);
  EXPECT_EQ(task.at("reasons").at(0), "1 of 2: wrong here");
  EXPECT_TRUE(json.at("models").at(0).at("published_headline").is_null());
  EXPECT_EQ(json.at("not_evaluated").at(0).at("task"), "gone");
}

TEST(Render, HtmlIsEscaped) {
  const std::string page = render_html(example(), kUnusable);
  EXPECT_THAT(page, HasSubstr("&lt;is&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, HasSubstr("</html>"));
}

}  // namespace
}  // namespace passnet::leaderboard
