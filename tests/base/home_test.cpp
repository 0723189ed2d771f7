#include "base/file/home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "tests/scratch.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class HomeTest : public testing::Test {
 protected:
  void SetUp() override { use(home_); }
  void TearDown() override {
    if (before_)
      ::setenv("PASSNET_HOME", before_->c_str(), 1);
    else
      ::unsetenv("PASSNET_HOME");
  }
  static void use(const std::string& path) { ::setenv("PASSNET_HOME", path.c_str(), 1); }
  static std::string problem() {
    const Result<void> checked = check_home();
    return checked ? "" : to_string(checked.error());
  }
  const ScratchDirectory scratch_;
  const fs::path home_ = scratch_.path / "home";
  const std::optional<std::string> before_ =
      std::getenv("PASSNET_HOME") ? std::optional<std::string>(std::getenv("PASSNET_HOME")) : std::nullopt;
};

TEST_F(HomeTest, MayBeMissingOrADirectoryOfThisUser) {
  EXPECT_EQ(problem(), "");
  fs::create_directory(home_);
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(home_remark(), "");
}

TEST_F(HomeTest, OthersMayNotWriteToIt) {
  fs::create_directory(home_);
  for (const fs::perms mode : {fs::perms(0777), fs::perms(01777), fs::perms(0702)}) {
    fs::permissions(home_, mode);
    EXPECT_EQ(problem(),
              "error: PASSNET_HOME '" + home_.string() +
                  "' can be written to by every user, expected a directory that this user alone can write to\n"
                  "hint: remove what is not yours in it, then: chmod o-w '" +
                  home_.string() + "'");
  }
  fs::permissions(home_, fs::perms(0775));
  EXPECT_EQ(problem(), "");
}

TEST_F(HomeTest, LinksAreToldAndLookedThrough) {
  fs::create_directory(scratch_.path / "other");
  fs::create_directory_symlink("other", home_);
  EXPECT_EQ(problem(), "");
  EXPECT_THAT(home_remark(), HasSubstr("PASSNET_HOME '" + home_.string() + "' is a link; "));
  use(home_.string() + "/");
  EXPECT_THAT(home_remark(), HasSubstr("is a link; "));
  use(home_);
  fs::permissions(scratch_.path / "other", fs::perms(0777));
  EXPECT_THAT(problem(), HasSubstr("can be written to by every user"));
}

TEST_F(HomeTest, IsNoFile) {
  fs::create_symlink("/dev/null", home_);
  EXPECT_THAT(problem(), HasSubstr("is no directory"));
}

}  // namespace
}  // namespace passnet
