// The journal of generalized models: what is written is read back, what is damaged is done again.
#include "dataset/generalize_journal.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace passnet::dataset {
namespace {

GeneralizeLine variants_of(const std::string& graph) {
  GeneralizeLine line;
  line.report.graph = graph;
  line.report.symbols = {{"S0", 1}, {"S1", 16}};
  line.report.dropped = {"8: why"};
  line.report.rewritten = {"y: view 16 = x.size(1)"};
  line.report.written = {"toy/b4_s16"};
  line.report.skipped = {"b1_s256: why"};
  line.report.compared = {{"toy/b2_s50", "exact"}};
  line.report.seconds = 0.5;
  line.rules = "r";
  return line;
}

TEST(GeneralizeJournal, TheLastLineOfAModelIsReadBack) {
  GeneralizeLine failed = variants_of("toy/b1_s16");
  failed.report.error = "lost";
  const std::string text = dump(to_json(failed)) + "\n" + dump(to_json(variants_of("toy/b1_s16"))) + "\n";
  const auto lines = read_generalize_journal(text);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(dump(to_json(lines.at("toy/b1_s16"))), dump(to_json(variants_of("toy/b1_s16"))));
  EXPECT_EQ(read_generalize_journal(dump(to_json(failed))).at("toy/b1_s16").report.error, "lost");
}

TEST(GeneralizeJournal, LinesOfAnotherFormAreSkipped) {
  const std::string line = dump(to_json(variants_of("a")));
  const auto lines = read_generalize_journal(line.substr(0, line.size() - 20) + "\nno JSON\n{\"graph\": \"b\"}\n");
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace passnet::dataset
