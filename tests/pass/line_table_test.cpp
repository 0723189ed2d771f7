#include "pass/kernel/line_table.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernel_fixture.h"

namespace passnet::pass {
namespace {

class LineTable : public KernelFixture {
 protected:
  std::string built(const std::string& text) {
    const auto kernel = build(text);
    EXPECT_TRUE(kernel) << (kernel ? "" : to_string(kernel.error()));
    const auto bytes = kernel ? read_file(kernel->object, FileKind::Lines) : Result<std::string>(kernel.error());
    return bytes ? *bytes : "";
  }
};

constexpr const char* kSource =
    "#include <passnet/kernel.h>\n"                                // 1
    "PASSNET_KERNEL k(const float* x, float* out, int64_t n) {\n"  // 2
    "  const auto [first, last] = passnet::chunk(n);\n"            // 3
    "  for (int64_t i = first; i < last; ++i) {\n"                 // 4
    "    const float e = passnet::exp(x[i]);\n"                    // 5
    "    out[i] = e;\n"                                            // 6
    "  }\n"
    "}\n";

/// Every address of the object's executable segment that has a line.
std::vector<KernelLine> lines_of(std::string_view object) {
  std::vector<KernelLine> lines;
  for (uint64_t address = 0; address < 1 << 16; ++address) {
    if (const auto line = find_kernel_line(object, address)) lines.push_back(*line);
  }
  return lines;
}

TEST_F(LineTable, KnowsTheLinesOfAKernelAndNoOthers) {
  std::set<uint32_t> exact;
  for (const KernelLine& line : lines_of(built(kSource))) {
    EXPECT_GE(line.line, 2u);
    EXPECT_LE(line.line, 8u);
    if (line.exact) exact.insert(line.line);
  }
  EXPECT_TRUE(exact.contains(4)) << "the loop";
  EXPECT_TRUE(exact.contains(6)) << "the store";
}

TEST_F(LineTable, SaysWhenTheCodeIsThatOfAHeader) {
  const auto lines = lines_of(built(kSource));
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const KernelLine& line) { return !line.exact; }));
}

TEST_F(LineTable, KnowsNothingOfWhatIsNoObject) {
  EXPECT_EQ(find_kernel_line("", 4096), std::nullopt);
  EXPECT_EQ(find_kernel_line("\x7f"
                             "ELF and no more",
                             4096),
            std::nullopt);
}

TEST_F(LineTable, SurvivesAnyDamage) {
  std::string object = built(kSource);
  const size_t table = object.find("passnet-kernel");
  ASSERT_NE(table, std::string::npos);
  uint32_t random = 1;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = object;
    for (int i = 0; i < 8; ++i) {
      random = random * 1664525 + 1013904223;
      const size_t at = std::min(damaged.size() - 1, table - 60 + random % 600);
      damaged[at] = static_cast<char>(random >> 24);
    }
    (void)find_kernel_line(damaged, 4096 + random % 512);
    (void)find_kernel_line(std::string_view(damaged).substr(0, random % damaged.size()), 4200);
  }
}

}  // namespace
}  // namespace passnet::pass
