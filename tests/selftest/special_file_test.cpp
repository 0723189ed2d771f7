#include "selftest/special_file.h"

#include <gmock/gmock.h>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::selftest {
namespace {

namespace fs = std::filesystem;

std::string special_problem(const std::string& value) {
  const auto file = parse_special({"special", value, std::nullopt, {"f.txt", 1, 1}, {"f.txt", 1, 9}});
  return file ? "accepted" : to_string(file.error());
}

TEST(SpecialFile, IsAKindAndAPlaceInTheSample) {
  for (const char* right : {"link pass_dir/p.py", "link pass_dir /etc", "pipe a", "sparse graphs/g/model.py"})
    EXPECT_EQ(special_problem(right), "accepted") << right;
  for (const char* wrong : {"", "link", "socket a", "pipe a b", "link a b c"})
    EXPECT_EQ(special_problem(wrong),
              "f.txt:1:9: error: field 'special': expected 'link PLACE', 'link PLACE TARGET', 'pipe PLACE' or 'sparse "
              "PLACE', found '" +
                  std::string(wrong) + "'");
  EXPECT_EQ(special_problem("pipe ../a"), "f.txt:1:9: error: field 'special': the place '../a' is not in the sample");
  EXPECT_EQ(special_problem("pipe /a"), "f.txt:1:9: error: field 'special': the place '/a' is not in the sample");
}

/// A sample with one of each, and a copy of it.
TEST(SpecialFile, IsPlacedAndReplicatedAsWhatItIs) {
  const ScratchDirectory scratch;
  const fs::path sample = scratch.path / "sample", copy = scratch.path / "copy";
  for (const char* name : {"moved", "linked", "pipe", "sparse", "plain"})
    ASSERT_TRUE(write_file(sample / "d" / name, name));
  using Kind = SpecialFile::Kind;
  for (const SpecialFile& file :
       {SpecialFile{Kind::Link, "d/moved", ""}, SpecialFile{Kind::Link, "d/linked", "/nowhere"},
        SpecialFile{Kind::Pipe, "d/pipe", ""}, SpecialFile{Kind::Sparse, "d/sparse", ""}}) {
    const auto placed = place_special(file, sample);
    ASSERT_TRUE(placed) << to_string(placed.error());
  }
  const auto replicated = replicate(sample, copy);
  ASSERT_TRUE(replicated) << to_string(replicated.error());
  for (const fs::path& one : {sample, copy}) {
    EXPECT_EQ(fs::read_symlink(one / "d/moved"), "../outside/moved");
    EXPECT_EQ(read_file(one / "d/moved", FileKind::Lines).value_or("none"), "moved");
    EXPECT_EQ(fs::read_symlink(one / "d/linked"), "/nowhere");
    EXPECT_TRUE(fs::is_fifo(one / "d/pipe"));
    EXPECT_EQ(fs::file_size(one / "d/sparse"), uintmax_t{1} << 40);
    EXPECT_EQ(read_file(one / "d/plain", FileKind::Lines).value_or("none"), "plain");
  }
}

}  // namespace
}  // namespace passnet::selftest
