#include "agent/reward/answer_files.h"

#include <gtest/gtest.h>

namespace passnet::agent {
namespace {

std::map<std::string, std::string> files_of(std::string_view text) {
  const auto files = files_in_answer(text);
  EXPECT_TRUE(files.has_value()) << text;
  return files ? *files : std::map<std::string, std::string>();
}

TEST(AnswerFiles, AreNamedBeforeTheirBlocks) {
  EXPECT_EQ(files_of("The plan:\n\n### `pass_dir/relu.py`\n\n```python\ndef pattern(x):\n    pass\n```\n"
                     "**relu.cpp**:\n~~~cpp\nint x;\n~~~\n"),
            (std::map<std::string, std::string>{{"relu.py", "def pattern(x):\n    pass\n"}, {"relu.cpp", "int x;\n"}}));
}

TEST(AnswerFiles, AreNamedInTheFenceOrTheFirstLine) {
  EXPECT_EQ(
      files_of("```python relu.py\na\n```\n```cpp\n// relu.cu\nb\n```\n```json title=\"list.json\"\n[]\n```"),
      (std::map<std::string, std::string>{{"relu.py", "a\n"}, {"relu.cu", "// relu.cu\nb\n"}, {"list.json", "[]\n"}}));
}

TEST(AnswerFiles, OfOneNameTheLastCounts) {
  EXPECT_EQ(files_of("a.py\n```\n1\n```\nBetter, a.py:\n```\n2\n```\n").at("a.py"), "2\n");
}

TEST(AnswerFiles, MayHoldFences) {
  EXPECT_EQ(files_of("a.py\n````\n\"\"\"\n```\n\"\"\"\n````\n").at("a.py"), "\"\"\"\n```\n\"\"\"\n");
}

TEST(AnswerFiles, HaveNoOtherPlace) {
  EXPECT_FALSE(files_in_answer("/etc/cron.py\n```\nx\n```\n").has_value());
  EXPECT_FALSE(files_in_answer("../relu.py\n```\nx\n```\n").has_value());
  EXPECT_FALSE(files_in_answer("a .py\n```\nx\n```\n").has_value());
  EXPECT_FALSE(files_in_answer(std::string(300, 'x') + ".py\n```\nx\n```\n").has_value());
}

TEST(AnswerFiles, AreMissingWhereTheAnswerIsCut) {
  const auto cut = files_in_answer("relu.py\n```python\ndef pattern(x):");
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().message,
            "no file in the answer, expected a fenced block per file with the file's name before it");
}

TEST(AnswerFiles, ComeBackFromAnAnswerThatHoldsThem) {
  const std::map<std::string, std::string> files = {{"a.py", "x\n```\ny\n"}, {"a.cpp", "int x;\n"}, {"a.json", "\n"}};
  EXPECT_EQ(files_of(answer_with(files)), files);
}

}  // namespace
}  // namespace passnet::agent
