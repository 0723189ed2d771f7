#include "base/file/paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;

TEST(Paths, ThatCannotBeLookedAtAreNone) {
  const ScratchDirectory scratch;
  fs::create_symlink("loop", scratch.path / "loop");
  for (const fs::path& path : {scratch.path / std::string(300, 'n'), scratch.path / "loop", scratch.path / "loop" / "x",
                               fs::path(std::string(5000, 'a')), fs::path()}) {
    EXPECT_FALSE(path_exists(path)) << path;
    EXPECT_FALSE(directory_exists(path)) << path;
    EXPECT_FALSE(file_exists(path)) << path;
    EXPECT_FALSE(list_directory(path)) << path;
  }
}

TEST(Paths, AreToldApart) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_file(scratch.path / "b", std::string_view("x")));
  ASSERT_TRUE(write_file(scratch.path / "a", std::string_view("x")));
  EXPECT_TRUE(directory_exists(scratch.path) && !file_exists(scratch.path));
  EXPECT_TRUE(file_exists(scratch.path / "a") && !directory_exists(scratch.path / "a"));
  const auto entries = list_directory(scratch.path);
  ASSERT_TRUE(entries) << to_string(entries.error());
  EXPECT_EQ(*entries, (std::vector{scratch.path / "a", scratch.path / "b"}));
}

TEST(Paths, AreRefusedWhereTheyHoldSomething) {
  const ScratchDirectory scratch;
  EXPECT_TRUE(require_empty(scratch.path) && require_empty(scratch.path / "new"));
  ASSERT_TRUE(write_file(scratch.path / "mine", std::string_view("x")));
  EXPECT_EQ(require_empty(scratch.path).error().message,
            "'" + scratch.path.string() + "' holds 'mine', expected an empty or a new directory");
  EXPECT_EQ(require_empty(scratch.path / "mine").error().message,
            "'" + (scratch.path / "mine").string() + "' is no directory, expected an empty or a new one");
}

TEST(Paths, AreAbsoluteWithoutDots) {
  EXPECT_EQ(absolute_path("a/./b/../c"), fs::current_path() / "a/c");
  EXPECT_EQ(absolute_path("/a/../b"), "/b");
}

}  // namespace
}  // namespace passnet
