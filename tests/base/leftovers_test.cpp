#include "base/file/leftovers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;

TEST(Leftovers, AreOfProcessesThatAreGone) {
  const std::string own = std::to_string(::getpid());
  for (const char* gone : {"a.json.tmp99999999", ".graph.99999999", ".a.b.99999999"})
    EXPECT_TRUE(is_leftover(gone)) << gone;
  const std::vector<std::string> all_kept = {"a.json",  "99999999", ".99999999",        "..99999999",   "a.99999999",
                                             ".hidden", "a.tmp",    "a.json.tmp" + own, ".graph." + own};
  for (const std::string& kept : all_kept) EXPECT_FALSE(is_leftover(kept)) << kept;
}

TEST(Leftovers, AreRemovedAndNothingElse) {
  const ScratchDirectory scratch;
  for (const char* file : {"a/b/.graph.99999999/model.py", "a/x.json.tmp99999999", "a/x.json", "a/b/graph/model.py"})
    ASSERT_TRUE(write_file(scratch.path / file, std::string_view("x")));
  fs::create_directory_symlink(scratch.path / "a", scratch.path / ".link.99999999");
  remove_leftovers(scratch.path);
  EXPECT_TRUE(fs::is_empty(scratch.path / "a/b/graph") == false && fs::exists(scratch.path / "a/x.json"));
  EXPECT_FALSE(fs::exists(scratch.path / "a/b/.graph.99999999"));
  EXPECT_FALSE(fs::exists(scratch.path / "a/x.json.tmp99999999"));
  EXPECT_FALSE(fs::is_symlink(scratch.path / ".link.99999999"));
}

}  // namespace
}  // namespace passnet
