// The text of a pass file that Triton sees.
#include "pass/triton/module_text.h"

#include <gtest/gtest.h>

#include "base/text/strings.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::pass {
namespace {

/// The lines that are not blanked out.
std::string seen(std::string text) {
  const auto file = parse_pass_file("Name.py", std::make_shared<const std::string>(std::move(text)));
  if (!file) return to_string(file.error());
  const std::string kept = triton_text(**file);
  std::string lines;
  for (const std::string_view line : split(kept, '\n')) {
    if (line.find_first_not_of(' ') != std::string_view::npos) lines += std::string(line) + "\n";
  }
  return lines;
}

TEST(TritonText, KeepsImportsConstantsAndKernels) {
  const std::string text =
      "import triton\n"
      "import triton.language as tl\n"
      "BLOCK = 2 * 64\n"
      "HALF = tl.constexpr(BLOCK // 2)\n"
      "@triton.jit\n"
      "def kernel(x, B: tl.constexpr):\n"
      "    tl.store(x, HALF)\n";
  EXPECT_EQ(seen(text), text);
}

TEST(TritonText, LeavesOutWhatNeedsAFunctionOfTheFile) {
  const std::string text =
      "def run(x):\n"
      "    return x\n"
      "alias = run\n"
      "again = alias\n"
      "table = [again, 1]\n"
      "size = run(3)\n"
      "double = 2 * size\n";
  EXPECT_EQ(seen(text + "kept = 3\n"), "kept = 3\n");
}

TEST(TritonText, KeepsANameThatIsAssignedAConstantLater) {
  EXPECT_EQ(seen("def size(x):\n"
                 "    return x\n"
                 "block = size(3)\n"
                 "block = 64\n"
                 "wide = 2 * block\n"),
            "block = 64\nwide = 2 * block\n");
}

}  // namespace
}  // namespace passnet::pass
