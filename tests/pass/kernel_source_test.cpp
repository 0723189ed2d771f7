// The source filter against g++'s own reading: whatever it lets through holds no 'asm' for the preprocessor either.
#include "pass/kernel/kernel_source.h"

#include <gtest/gtest.h>

#include <random>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "pass/kernel/compile_run.h"
#include "pass/kernel/compiler.h"
#include "tests/scratch.h"
#include "tests/tiers.h"

namespace passnet::pass {
namespace {

std::string verdict(const std::string& text) {
  const auto source = parse_kernel_source("k.cpp", text);
  return source ? "accepted" : to_string(source.error());
}

TEST(KernelSource, ReadsRawStringsByTheirPrefix) {
  for (const char* prefix : {"R", "LR", "uR", "UR", "u8R"})
    EXPECT_EQ(verdict(std::string("auto s = ") + prefix + "\"x(\" asm )\" )x\";\n"), "accepted") << prefix;
  for (const char* prefix : {"aR", "uLR", "RR", "u8_R", "_R", "u8"}) {
    EXPECT_NE(verdict(std::string("f(") + prefix + "\"x(\"); asm(\"\"); f(\")x\");\n"), "accepted") << prefix;
    EXPECT_EQ(verdict(std::string("auto s = ") + prefix + "\"x\";\n"), "accepted") << prefix;
  }
}

TEST(KernelSource, RefusesWhatIsReadInDifferentWays) {
  EXPECT_EQ(verdict("\"a\\ \n\" asm \"\"\n"),
            "k.cpp:2:3: error: 'asm' is not allowed in a kernel\n"
            "hint: passnet::vec compiles to the vector instructions of the machine");
  EXPECT_EQ(verdict("f('\n#error R\"(\nasm)\"\n"),
            "k.cpp:2:8: error: a raw string may not hold a continued line, nor stand in a directive of several lines");
  EXPECT_EQ(verdict("auto s = R\"x(a\\\nb)x\";\n"),
            "k.cpp:1:10: error: a raw string may not hold a continued line, nor stand in a directive of several lines");
  EXPECT_EQ(verdict("#define S R\"(a\nb)\"\n"),
            "k.cpp:1:11: error: a raw string may not hold a continued line, nor stand in a directive of several lines");
  EXPECT_EQ(verdict("auto s = R\"a b(x)a b\";\n"), "k.cpp:1:10: error: a raw string without a delimiter and '('");
  EXPECT_EQ(verdict("auto s = R\"12345678901234567(x)12345678901234567\";\n"),
            "k.cpp:1:10: error: a raw string without a delimiter and '('");
  EXPECT_EQ(verdict("auto s = R\"x(abc\n"), "k.cpp:1:10: error: a raw string without its end");
  EXPECT_EQ(verdict("auto s = \"\"R\"(\" asm \")\";\n"),
            "k.cpp:1:12: error: a string or character may not be followed by a letter, a digit or '_'\n"
            "hint: put a blank between them");
  EXPECT_EQ(verdict("int \\u00e9R = 1;\n"),
            "k.cpp:1:5: error: outside of strings and comments a kernel is written in ASCII, without '\\'");
  EXPECT_EQ(verdict("int \xc3\xa9R = 1;\n"),
            "k.cpp:1:5: error: outside of strings and comments a kernel is written in ASCII, without '\\'");
  EXPECT_EQ(verdict("int a;\n\fint b;\n"), "k.cpp:2:1: error: control character 0x0c is not allowed in a kernel");
  EXPECT_EQ(verdict("int a;\rint b;\n"), "k.cpp:1:7: error: control character 0x0d is not allowed in a kernel");
  EXPECT_EQ(verdict("#pragma unroll \"/*\n asm /* */\n"),
            "k.cpp:1:1: error: '#pragma unroll \"' is not allowed in a kernel\n"
            "hint: allowed: once, GCC ivdep, GCC unroll, omp simd, unroll");
}

TEST(KernelSource, TakesHonestText) {
  for (const char* text : {"int big = 1'000'000; float f = 1e-5f, g = .5e+3f, h = 0x1p-3f; char c = '\"', d = '\\'';\n",
                           "// caf\xc3\xa9, why\?\?/ don't\nconst char* s = \"caf\xc3\xa9\";\n", "\xef\xbb\xbfint x;\n",
                           "#error don't\n#define LONG a \\\n  b\n", "int a;\r\n#define B \\\r\n 1\r\n",
                           "auto c = u8'x'; auto d = L\"wide\";\n"})
    EXPECT_EQ(verdict(text), "accepted") << text;
}

/// Texts of pieces that begin, end or look like literals, comments and continued lines. Most of it is the table of pieces.
std::string random_text(std::mt19937& random) {
  static const char* const pieces[] = {"\"",
                                       "'",
                                       "\\",
                                       "\\\n",
                                       "\\ \n",
                                       "\\\t\r\n",
                                       "\n",
                                       "\r\n",
                                       " ",
                                       "//",
                                       "/*",
                                       "*/",
                                       "R\"(",
                                       ")\"",
                                       "R\"x(",
                                       ")x\"",
                                       "u8R\"(",
                                       "LR\"x(",
                                       "uR\"(",
                                       "aR\"(",
                                       "R",
                                       "u8",
                                       "u",
                                       "L",
                                       "(",
                                       ")",
                                       "x",
                                       "1'0",
                                       "1e+'a'",
                                       "0x1p-'",
                                       ".5'a",
                                       "?\?/\n",
                                       "?\?'",
                                       "%:",
                                       "#",
                                       "#define ",
                                       "A ",
                                       "#if 0\n",
                                       "#endif\n",
                                       "#error ",
                                       "#undef ",
                                       "asm",
                                       " asm ",
                                       "__asm__ ",
                                       "_x",
                                       "\xc3\xa9",
                                       "\\u0061",
                                       "\\u00e9",
                                       "#pragma once ",
                                       "<:",
                                       "'\"'",
                                       "\"\"",
                                       "\"//\"",
                                       "a\\\nsm",
                                       "\f",
                                       "$",
                                       ";",
                                       "\"\\\"",
                                       "U'",
                                       "#include <stdint.h>"};
  std::string text;
  const size_t count = 3 + random() % 14;
  for (size_t i = 0; i < count; ++i) text += pieces[random() % std::size(pieces)];
  return text + "\n";
}

TEST(KernelSource, HidesNoAssemblyFromWhatGccReads) {
  const auto compiler = find_compiler();
  if (!compiler) GTEST_SKIP() << "1 check skipped: " << to_string(compiler.error());
  const ScratchDirectory scratch;
  std::mt19937 random(20240607);
  ASSERT_TRUE(write_file(scratch.path / "plain.cpp", "/**/ asm R\"(asm)\"\n"));
  const auto plain = ask_compiler(
      {compiler->path, "-std=c++20", "-E", "-P", "-Dasm=PASSNET_FOUND", (scratch.path / "plain.cpp").string()});
  ASSERT_TRUE(plain) << to_string(plain.error());
  EXPECT_EQ(trim(plain->text), "PASSNET_FOUND R\"(asm)\"");
  // Many texts in one run of g++: each accepted one is a file of its own, preprocessed one after the other.
  size_t accepted = 0;
  std::vector<std::string> argv = {compiler->path, "-std=c++20",          "-E",
                                   "-w",           "-Dasm=PASSNET_FOUND", "-D__asm__=PASSNET_FOUND"};
  const size_t options = argv.size();
  std::vector<std::string> texts;
  const auto run = [&] {
    const auto output = ask_compiler(argv);
    ASSERT_TRUE(output) << to_string(output.error());
    EXPECT_EQ(output->text.find("PASSNET_FOUND"), std::string::npos) << testing::PrintToString(texts) << "\n"
                                                                     << output->text;
    argv.resize(options);
    texts.clear();
  };
  const size_t tried = full_tier() ? 20000 : 5000;
  for (size_t i = 0; i < tried; ++i) {
    const std::string text = random_text(random);
    const bool has = text.find("asm") != std::string::npos;
    if (verdict(text) != "accepted" || !has) continue;
    ++accepted;
    const std::string path = (scratch.path / (std::to_string(i) + ".cpp")).string();
    ASSERT_TRUE(write_file(path, text));
    argv.push_back(path);
    texts.push_back(text);
    if (texts.size() == 40) run();
  }
  if (!texts.empty()) run();
  EXPECT_GT(accepted, tried / 100);
}

TEST(KernelSource, LeavesTheHeaderItsNamespaceAndTemplates) {
  const auto refused = [](const std::string& place, const std::string& what) {
    return "k.cpp:" + place + ": error: " + what + " belongs to passnet/kernel.h\nhint: use another name";
  };
  EXPECT_EQ(verdict("void k();\ntemplate <> struct passnet::detail::Launcher<&k> {};\n"),
            refused("2:20", "a class of namespace 'passnet'"));
  EXPECT_EQ(verdict("using namespace passnet;\ntemplate <> struct detail::Launcher<&k> {};\n"),
            refused("2:28", "the name 'Launcher'"));
  EXPECT_EQ(verdict("#define JOIN(a, b) a##b\nint JOIN(Laun, cher);\n"), refused("2:10", "the name 'Launcher'"));
  EXPECT_EQ(verdict("using passnet::detail::Slots;\n"), refused("1:16", "namespace 'passnet::detail'"));
  EXPECT_EQ(verdict("namespace own = passnet;\n"), refused("1:17", "namespace 'passnet'"));
  EXPECT_EQ(verdict("namespace own::passnet {}\n"), refused("1:16", "namespace 'passnet'"));
  EXPECT_EQ(verdict("#define OWN passnet\nnamespace OWN { int x; }\n"),
            refused("2:11", "a namespace named by the macro 'OWN' may be one that"));
  EXPECT_EQ(verdict("template < >\ninline float passnet::max(float a, float b) { return a; }\n"),
            refused("2:23", "'passnet::max'"));
  EXPECT_EQ(verdict("template <int N> class passnet::floats<N> {};\n"),
            refused("1:24", "a class of namespace 'passnet'"));
  EXPECT_EQ(verdict("#define OPEN namespace\n"),
            "k.cpp:1:14: error: 'namespace' is not allowed in a macro of a kernel");
  EXPECT_EQ(verdict("#define OWN template <>\n"),
            "k.cpp:1:13: error: 'template' is not allowed in a macro of a kernel");
  for (const char* text : {
           "using namespace passnet;\n",
           "namespace own { using passnet::vec; }\nnamespace detail { int x = 0; }\n",
           "template <class T>\nstruct Own { passnet::vec values; };\ntemplate <> struct Own<int> { float f = "
           "passnet::max(1, 2); };\n",
           "template <> passnet::vec own<3>(passnet::vec x) { return passnet::max(x, x); }\n",
           "template <int N> passnet::floats<N> own(passnet::floats<N> x) { return x; }\n",
       })
    EXPECT_EQ(verdict(text), "accepted") << text;
}

}  // namespace
}  // namespace passnet::pass
