#include "report/sources.h"

#include <gmock/gmock.h>

#include "base/file/file.h"
#include "report/html/texts.h"
#include "sample_records.h"
#include "tests/scratch.h"

namespace passnet::report {
namespace {

using testing::HasSubstr;

class SourcesTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { ASSERT_TRUE(write_file(out / path, text)); }

  const ScratchDirectory scratch;
  const std::filesystem::path& out = scratch.path;
  std::vector<record::RunRecord> records = {measured("b1/float32", 2, 1, -10, 0)};
};

TEST_F(SourcesTest, AreReadFromBesideTheRecords) {
  write("residual_layer_norm/passes/add.cpp", "kernel\n");
  write("residual_layer_norm/passes/add.py", "plan\n");
  write("residual_layer_norm/graphs/b1/float32/before.py", "before\n");
  write("residual_layer_norm/graphs/b1/float32/launches.json",
        R"([{"pass": "add", "launches": [{"kernel": "add_kernel", "grid": [40, 2], "block": 256,
            "constants": [{"name": "T", "dtype": "float32"}, {"name": "N", "int": 8}],
            "args": [{"buffer": 0, "dtype": "float32", "shape": [40, 50]}, {"int": 2000}, {"float": 0.5}]}]}])");
  const Sources sources = load_sources(out, records);
  ASSERT_TRUE(sources.contains("residual_layer_norm"));
  const SampleSources& sample = sources.at("residual_layer_norm");
  ASSERT_EQ(sample.passes.size(), 2u);
  EXPECT_EQ(sample.passes[0].name, "add.py");
  EXPECT_EQ(sample.passes[1].text, "kernel\n");
  const record::GraphTexts& texts = sample.graphs.at("b1/float32");
  EXPECT_EQ(texts.before, "before\n");
  EXPECT_EQ(texts.after, "");
  EXPECT_EQ(
      texts.launches,
      "site 0, pass add\n  add_kernel  grid 40 x 2, block 256, T=float32, N=8\n    float32 [40, 50], 2000, 0.5\n");
}

TEST_F(SourcesTest, ThatAreNotThereAreLeftOut) {
  const Sources sources = load_sources(out, records);
  EXPECT_TRUE(sources.at("residual_layer_norm").passes.empty());
  EXPECT_TRUE(sources.at("residual_layer_norm").graphs.empty());
}

TEST_F(SourcesTest, OfGreatLengthAreCutAndSaySo) {
  std::string text;
  while (text.size() <= kLongestText) text += "0123456789\n";
  write("residual_layer_norm/graphs/b1/float32/before.py", text + "last\n");
  const std::string found = load_sources(out, records).at("residual_layer_norm").graphs.at("b1/float32").before;
  EXPECT_LT(found.size(), kLongestText + 200);
  EXPECT_THAT(found, HasSubstr("… 2 more lines in residual_layer_norm/graphs/b1/float32/before.py\n"));
}

TEST(LaunchText, GivesBackWhatItDoesNotKnow) {
  EXPECT_EQ(launch_text("no json"), "no json");
  EXPECT_EQ(launch_text("[{\"pass\": 1}]"), "[{\"pass\": 1}]");
  EXPECT_EQ(launch_text("{}"), "{}");
}

TEST(HtmlTexts, ShowEachTextOnceAndNoMoreThanFits) {
  HtmlTexts texts;
  EXPECT_EQ(texts.link("before", "a: before", "text"), "<a href=\"#t0\">before</a>");
  EXPECT_EQ(texts.link("after", "b: after", "text"), "<a href=\"#t0\">after</a>");
  EXPECT_EQ(texts.link("empty", "", ""), "");
  EXPECT_THAT(texts.link("huge", "", std::string(HtmlTexts::kMostBytes, 'x')),
              HasSubstr("in the files beside the records"));
  const std::string page = texts.render();
  EXPECT_THAT(page, HasSubstr("<summary>a: before</summary><pre id=\"t0\">text</pre>"));
  EXPECT_EQ(page.find("xxx"), std::string::npos);
}

}  // namespace
}  // namespace passnet::report
