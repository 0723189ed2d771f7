#include "selftest/family_file.h"

#include <gmock/gmock.h>

#include <string>

namespace passnet::selftest {
namespace {

using ::testing::ElementsAre;

const std::string kHead =
    "# A comment.\n"
    "graph relu\n"
    "verdict unwritten, wrong\n"
    "layers poison, values\n"
    "host p.py\n"
    "| def plan(x):\n"
    "|     @\n"
    "|\n"
    "| # bundle b\n"
    "plan\n"
    "| out = k(x)\n"
    "| return out\n"
    "kernel p.cpp\n"
    "| int k;\n"
    "\n";

/// Bundles of the head above and these lines.
std::vector<BundleText> parse(const std::string& blocks) {
  Result<std::vector<BundleText>> bundles = parse_family(kHead + blocks, "f.txt");
  EXPECT_TRUE(bundles) << to_string(bundles.error());
  return bundles ? *std::move(bundles) : std::vector<BundleText>();
}

std::string family_problem(const std::string& text) {
  const auto bundles = parse_family(text, "f.txt");
  return bundles ? "accepted" : to_string(bundles.error());
}

std::string text_of(const BundleText& bundle, std::string_view name) {
  for (const FileText& file : bundle.pass_dir) {
    if (file.name == name) return file.text;
  }
  return "no file";
}

/// The kernel that these lines of text stand for.
std::string kernel_of(const std::string& lines) {
  const std::vector<BundleText> bundles = parse("bundle a\nwhat x\nkernel p.cpp\n" + lines);
  return bundles.empty() ? "no bundle" : text_of(bundles.front(), "p.cpp");
}

TEST(FamilyFile, FillsInWhatTheHeadSays) {
  const auto bundles = parse(
      "bundle a\nrows 1, 2\nwhat Does nothing.\n\nbundle gpu/b\nwhat Sleeps.\ngraph mean\nlayers\ndevice cuda\n"
      "timeout_s 2.5\nallow_library true\nreason takes more than\n");
  ASSERT_EQ(bundles.size(), 2U);
  const Expectation &a = bundles[0].expected, &b = bundles[1].expected;
  EXPECT_EQ(bundles[0].name, "a");
  EXPECT_THAT(a.rows, ElementsAre(1, 2));
  EXPECT_EQ(a.what, "Does nothing.");
  EXPECT_EQ(a.graph, "relu");
  EXPECT_THAT(a.verdict, ElementsAre("unwritten", "wrong"));
  EXPECT_THAT(a.layers, ElementsAre("poison", "values"));
  EXPECT_EQ(a.device, "cpu");
  EXPECT_EQ(bundles[1].name, "gpu/b");
  EXPECT_TRUE(b.rows.empty());
  EXPECT_EQ(b.graph, "mean");
  EXPECT_TRUE(b.layers.empty());
  EXPECT_EQ(b.device, "cuda");
  EXPECT_EQ(b.timeout_s, 2.5);
  EXPECT_TRUE(b.allow_library);
  EXPECT_EQ(b.reason, "takes more than");
  EXPECT_EQ(b.place_of("reason"), (SourceLoc{"f.txt", 27, 8}));
  EXPECT_EQ(b.place_of("verdict"), (SourceLoc{"f.txt", 3, 9}));
}

TEST(FamilyFile, GivesTheFilesOfPassDir) {
  const auto bundles = parse("bundle a\nwhat x\n");
  ASSERT_EQ(bundles.size(), 1U);
  EXPECT_EQ(text_of(bundles[0], "p.py"), "def plan(x):\n    out = k(x)\n    return out\n\n# bundle b\n");
  EXPECT_EQ(text_of(bundles[0], "p.cpp"), "int k;\n");
  EXPECT_EQ(text_of(bundles[0], "sorted_output_pass_rule_names.json"), "[\"p\"]\n");
}

TEST(FamilyFile, ABundleReplacesWhatTheHeadGives) {
  const auto bundles = parse(
      "bundle a\nwhat x\nplan\n| return x\nkernel\n"
      "bundle b\nwhat x\nhost one.py\n| 1\nhost two.py\n| 2\nkernel k.cu\n| 3\n"
      "bundle c\nwhat x\nlist\n| [\n");
  ASSERT_EQ(bundles.size(), 3U);
  EXPECT_EQ(text_of(bundles[0], "p.py"), "def plan(x):\n    return x\n\n# bundle b\n");
  EXPECT_EQ(bundles[0].pass_dir.size(), 2U);
  EXPECT_EQ(bundles[1].pass_dir.size(), 4U);
  EXPECT_EQ(text_of(bundles[1], "two.py"), "2\n");
  EXPECT_EQ(text_of(bundles[1], "k.cu"), "3\n");
  EXPECT_EQ(text_of(bundles[1], "sorted_output_pass_rule_names.json"), "[\"one\",\"two\"]\n");
  EXPECT_EQ(text_of(bundles[2], "sorted_output_pass_rule_names.json"), "[\n");
}

TEST(FamilyFile, KeepsEveryByteOfAText) {
  EXPECT_EQ(kernel_of("| # a\n|   b\n|\n| | c\n"), "# a\n  b\n\n| c\n");
  EXPECT_EQ(kernel_of("| bundle z\n| a\\{byte 20}\n| {byte ef}{byte bb}b{byte 00}c{byte 0d}\n"),
            std::string("bundle z\na\\ \n\xef\xbb") + "b" + std::string(1, '\0') + "c\r\n");
  EXPECT_EQ(kernel_of("| a\n| b{end of text}\n"), "a\nb");
  EXPECT_EQ(kernel_of("| {byte 7b}byte 00}\n| {byte 7b}end of text}\n| {end of text};\n"),
            "{byte 00}\n{end of text}\n{end of text};\n");
  EXPECT_EQ(kernel_of("| {end of text}\n"), "");
}

TEST(FamilyFile, NamesBytesThatAreNotPrintable) {
  EXPECT_EQ(family_problem("graph a\r\n"),
            "f.txt:1:8: error: found the byte 0x0d, expected printable ASCII\n"
            "hint: in a text it is written '{byte 0d}'");
  EXPECT_EQ(family_problem("list\n| \xc3\xa9\n"),
            "f.txt:2:3: error: found the byte 0xc3, expected printable ASCII\n"
            "hint: in a text it is written '{byte c3}'");
}

TEST(FamilyFile, NamesBadTexts) {
  EXPECT_EQ(family_problem("| a\n"), "f.txt:1:1: error: expected a field above this text, found none");
  EXPECT_EQ(family_problem("list\n\n| a\n"), "f.txt:3:1: error: expected a field above this text, found none");
  EXPECT_EQ(family_problem("list\n|a\n"), "f.txt:2:2: error: expected a blank after '|', found 'a'");
  EXPECT_EQ(family_problem("list\n| a{byte 7}\n"),
            "f.txt:2:4: error: expected two hexadecimal digits and '}' after '{byte ', found '{byte 7}'\n"
            "hint: '{byte 7b}' stands for '{'");
  EXPECT_EQ(family_problem("list\n| a{end of text}\n|\n"),
            "f.txt:3:1: error: expected no more lines of this text after '{end of text}'");
  EXPECT_EQ(family_problem("  graph a\n"),
            "f.txt:1:1: error: expected a field at the start of the line, found a blank");
}

TEST(FamilyFile, NamesBadFields) {
  EXPECT_EQ(family_problem("verdit wrong\n"),
            "f.txt:1:1: error: unknown field 'verdit'\nhint: did you mean 'verdict'?");
  EXPECT_EQ(family_problem("colour red\n"),
            "f.txt:1:1: error: unknown field 'colour'\nhint: src/selftest/family_file.h lists the fields");
  EXPECT_EQ(family_problem("graph a\nlayers values\ngraph b\n"),
            "f.txt:3:1: error: field 'graph' stands here again, first on line 1");
  EXPECT_EQ(family_problem("kernel p.cpp\ngraph b\n"),
            "f.txt:1:1: error: field 'kernel' has no text, expected lines below it that begin with '|'");
  EXPECT_EQ(family_problem("graph a\n| b\n"), "f.txt:1:1: error: field 'graph' has a text, expected only a value");
}

TEST(FamilyFile, NamesBadBundles) {
  const auto of_block = [](const std::string& lines) { return family_problem(kHead + "bundle a\n" + lines); };
  EXPECT_EQ(of_block("graph a\n"), "f.txt:16:1: error: bundle 'a' has no field 'what'");
  EXPECT_EQ(family_problem("bundle a\nwhat x\ngraph g\n"), "f.txt:1:1: error: bundle 'a' has no field 'verdict'");
  EXPECT_EQ(family_problem("bundle a\nwhat x\ngraph g\nverdict wrong\n"),
            "f.txt:1:1: error: bundle 'a' has no field 'host'");
  EXPECT_EQ(family_problem("bundle ../a\n"),
            "f.txt:1:8: error: field 'bundle': expected letters, digits, '_' and '/', found '../a'");
  EXPECT_EQ(of_block("what x\nrows 1, two\n"), "f.txt:18:6: error: field 'rows': expected integers > 0, found 'two'");
  EXPECT_EQ(of_block("what x\ntimeout_s -1\n"),
            "f.txt:18:11: error: field 'timeout_s': expected a number > 0, found '-1'");
  EXPECT_EQ(of_block("what x\nallow_library yes\n"),
            "f.txt:18:15: error: field 'allow_library': expected 'true' or 'false', found 'yes'");
  EXPECT_EQ(of_block("what x\nhost ../p.py\n| a\n"),
            "f.txt:18:6: error: field 'host': expected 'NAME.py', found '../p.py'");
  EXPECT_EQ(of_block("what x\nkernel p.c\n| a\n"),
            "f.txt:18:8: error: field 'kernel': expected 'NAME.cpp' or 'NAME.cu', found 'p.c'");
  EXPECT_EQ(of_block("what x\nhost p.py\n| @\n"),
            "f.txt:18:1: error: the host code has a line '@', expected a field 'plan'");
  EXPECT_EQ(of_block("what x\nplan\n| a\nhost p.py\n| b\n"),
            "f.txt:18:1: error: the host code has no line '@' for this field");
}

}  // namespace
}  // namespace passnet::selftest
