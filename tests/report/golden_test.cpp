// The whole texts that people read, byte by byte. When a change is meant, copy the file that the failure
// names.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file/file.h"
#include "report/table.h"
#include "sample_records.h"
#include "tests/paths.h"

namespace passnet::report {
namespace {

void expect_golden(const std::string& name, const std::string& found) {
  const std::filesystem::path golden = tests::source_dir() / "tests/report/golden" / name;
  const std::filesystem::path out = tests::binary_dir() / "golden" / name;
  const Result<std::string> expected = read_file(golden, FileKind::Lines);
  if (expected && *expected == found) return;
  ASSERT_TRUE(write_file(out, found));
  EXPECT_EQ(expected ? *expected : to_string(expected.error()), found) << "if meant: cp " << out << ' ' << golden;
}

TEST(Golden, TableAt80Columns) { expect_golden("table_80.txt", render_table(sample_records(), 80, false)); }
TEST(Golden, TableAt120Columns) { expect_golden("table_120.txt", render_table(sample_records(), 120, false)); }

}  // namespace
}  // namespace passnet::report
