#include "graphdir/graph_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::graphdir {
namespace {

namespace fs = std::filesystem;

class GraphWalkTest : public ::testing::Test {
 protected:
  void put(const std::string& directory) { ASSERT_TRUE(write_file(root_ / directory / "model.py", "")); }
  /// What the walk gives, each as its path below the root or its error.
  std::vector<std::string> walk(const std::vector<std::string>& below) {
    std::vector<std::string> paths, found;
    for (const std::string& path : below) paths.push_back((root_ / path).string());
    GraphWalk walk(paths);
    while (const auto next = walk.next()) {
      std::string text =
          next->error ? to_string(*next->error) : next->path.lexically_relative(root_).lexically_normal().string();
      if (const size_t at = text.find(root_.string()); at != std::string::npos)
        text.replace(at, root_.string().size(), "ROOT");
      found.push_back(text);
    }
    return found;
  }
  const ScratchDirectory scratch_;
  const fs::path& root_ = scratch_.path;
};

using ::testing::ElementsAre;

TEST_F(GraphWalkTest, GoesInTheOrderOfThePaths) {
  for (const char* path : {"x/b", "x/a/2", "x/a/1", "x/a-1", "y", "x/b/inner"}) put(path);
  EXPECT_THAT(walk({"y/model.py", "x", "y"}), ElementsAre("y/model.py", "x/a/1", "x/a/2", "x/a-1", "x/b", "y"));
}

TEST_F(GraphWalkTest, SaysWhatIsNotThere) {
  put("a");
  fs::create_directories(root_ / "empty/deep");
  EXPECT_THAT(walk({"none", "empty", "a"}),
              ElementsAre("error: 'ROOT/none' does not exist",
                          "error: found no graph at or below 'ROOT/empty', expected directories with model.py", "a"));
}

TEST_F(GraphWalkTest, TakesWhateverIsCalledModel) {
  fs::create_directories(root_ / "d/model.py");
  fs::create_directories(root_ / "l");
  fs::create_symlink("model.py", root_ / "l/model.py");
  EXPECT_THAT(walk({"."}), ElementsAre("d", "l"));
}

TEST_F(GraphWalkTest, FollowsNoLinksBelow) {
  put("real/a");
  fs::create_directory_symlink("..", root_ / "real/loop");
  fs::create_symlink("self", root_ / "self");
  EXPECT_THAT(walk({"."}), ElementsAre("real/a"));
  EXPECT_THAT(walk({"real/loop"}), ElementsAre("real/loop/real/a"));
  EXPECT_THAT(walk({"self"}), ElementsAre("error: cannot open 'ROOT/self': Too many levels of symbolic links"));
}

TEST_F(GraphWalkTest, ReportsADirectoryThatCannotBeReadAndGoesOn) {
  put("a");
  put("z");
  fs::create_directories(root_ / "m");
  if (::geteuid() == 0) {
    // Root reads everything: a directory that is gone by the time the walk comes to it stands in for it.
    GraphWalk walk({root_.string()});
    EXPECT_EQ(walk.next()->path, root_ / "a");
    fs::remove(root_ / "m");
    const auto second = walk.next();
    ASSERT_TRUE(second && second->error);
    EXPECT_EQ(to_string(*second->error),
              "error: cannot read '" + (root_ / "m").string() + "': No such file or directory");
    EXPECT_EQ(walk.next()->path, root_ / "z");
    return;
  }
  fs::permissions(root_ / "m", fs::perms::none);
  EXPECT_THAT(walk({"."}), ElementsAre("a", "error: cannot read 'ROOT/./m': Permission denied", "z"));
  fs::permissions(root_ / "m", fs::perms::owner_all);
}

}  // namespace
}  // namespace passnet::graphdir
