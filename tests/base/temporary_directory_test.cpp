#include "base/file/temporary_directory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "base/file/file.h"
#include "base/file/line_file.h"
#include "base/file/paths.h"
#include "tests/scratch.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;

void make_old(const fs::path& directory) {
  fs::last_write_time(directory, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST(TemporaryDirectories, OfKilledProcessesAreRemoved) {
  const ScratchDirectory scratch;
  const fs::path killed = scratch.path / "build-abcdef", young = scratch.path / "build-ghijkl",
                 other = scratch.path / "build-notes";
  for (const fs::path& one : {killed, young, other}) ASSERT_TRUE(write_file(one / "unit.cpp", std::string_view("x")));
  const auto held = TemporaryDirectory::make(scratch.path, "build-");
  ASSERT_TRUE(held) << to_string(held.error());
  for (const fs::path& one : {killed, other, held->path()}) make_old(one);
  const auto made = TemporaryDirectory::make(scratch.path, "build-");
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_FALSE(path_exists(killed));
  for (const fs::path& one : {young, other, held->path(), made->path()}) EXPECT_TRUE(path_exists(one)) << one;
}

TEST(TemporaryDirectories, AreRemovedAtTheirEnd) {
  const ScratchDirectory scratch;
  std::optional<TemporaryDirectory> made;
  {
    auto one = TemporaryDirectory::make(scratch.path / "new", "build-");
    ASSERT_TRUE(one) << to_string(one.error());
    made.emplace(std::move(*one));
  }
  const fs::path path = made->path();
  EXPECT_TRUE(directory_exists(path));
  made.reset();
  EXPECT_FALSE(path_exists(path));
}

TEST(LineFiles, ThatWereRemovedAreNotWrittenTo) {
  const ScratchDirectory scratch;
  auto file = LineFile::open(scratch.path / "lines", false);
  ASSERT_TRUE(file) << to_string(file.error());
  ASSERT_TRUE(file->append("one"));
  fs::remove(scratch.path / "lines");
  const auto written = file->append("two");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, Error::Kind::Resource);
  EXPECT_NE(written.error().message.find("was removed while it was written"), std::string::npos);
}

}  // namespace
}  // namespace passnet
