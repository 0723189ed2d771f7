#include "run/worker/python_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;

/// A directory with two passes and what lies beside them, copied to another one.
class CopiedPasses : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"p.py", "q.py", "beside.py", "package/__init__.py", ".git/config", "__pycache__/p.pyc"})
      ASSERT_TRUE(write_file(from_ / name, name));
  }
  Result<std::vector<fs::path>> copy() {
    return copy_passes({from_ / "q.py", from_ / "." / "p.py"}, SourceFiles({from_}), to_);
  }
  std::string problem() {
    const auto copies = copy();
    return copies ? "copied" : to_string(copies.error());
  }
  std::string read(const fs::path& name) {
    return read_file(to_ / from_.relative_path() / name, FileKind::Lines).value_or("none");
  }

  const ScratchDirectory scratch_;
  const fs::path from_ = scratch_.path / "pass_dir", to_ = scratch_.path / "copies";
};

TEST_F(CopiedPasses, AreFollowedByWhatLiesBesideThem) {
  const auto copies = copy();
  ASSERT_TRUE(copies) << to_string(copies.error());
  EXPECT_EQ(*copies,
            (std::vector<fs::path>{to_ / (from_ / "q.py").relative_path(), to_ / (from_ / "p.py").relative_path()}));
  EXPECT_EQ(read("q.py"), "q.py");
  EXPECT_EQ(read("package/__init__.py"), "package/__init__.py");
  EXPECT_EQ(read(".git/config"), "none");
  EXPECT_EQ(read("__pycache__/p.pyc"), "none");
}

TEST_F(CopiedPasses, AreNotCopiedAgain) {
  ASSERT_TRUE(copy());
  ASSERT_TRUE(write_file(from_ / "p.py", "other"));
  ASSERT_TRUE(copy());
  EXPECT_EQ(read("p.py"), "p.py");
}

TEST_F(CopiedPasses, AreRegularFiles) {
  fs::create_symlink("/etc/passwd", from_ / "beside2.py");
  EXPECT_THAT(problem(), testing::HasSubstr("beside2.py: error: found a link, expected a regular file"));
  fs::remove(from_ / "beside2.py");
  fs::create_directory_symlink("/etc", from_ / "etc");
  EXPECT_THAT(problem(), testing::HasSubstr("etc: error: found a link, expected a regular file"));
  fs::remove(from_ / "etc");
  ASSERT_EQ(::mkfifo((from_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(problem(), testing::HasSubstr("pipe: error: found a pipe"));
  EXPECT_FALSE(fs::exists(to_)) << "what is refused leaves nothing behind";
}

TEST_F(CopiedPasses, AreNotMoreThanAThousand) {
  for (int i = 0; i < 1001; ++i) ASSERT_TRUE(write_file(from_ / ("f" + std::to_string(i)), ""));
  EXPECT_THAT(problem(), testing::HasSubstr("holds more than 1000 files"));
}

TEST(SystemFiles, AreThereAndHoldNothingOfAUser) {
  const std::vector<std::string> files = system_files(false);
  EXPECT_THAT(files, testing::Contains("/dev/null"));
  for (const std::string& file : files) {
    EXPECT_TRUE(fs::exists(file)) << file;
    for (const char* no : {"/etc", "/home", "/root", "/tmp", "/var", "/usr", "/dev", "/proc", "/sys", "/dev/zero"})
      EXPECT_NE(file, no);
    EXPECT_FALSE(file.starts_with("/dev/nvidia"));
  }
}

}  // namespace
}  // namespace passnet::run
