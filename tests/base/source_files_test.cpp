#include "base/file/source_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "tests/scratch.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;

class SourceFilesTest : public ::testing::Test {
 protected:
  void put(const std::string& name, std::string_view text) { ASSERT_TRUE(write_file(root_ / name, text)); }
  std::string read(const SourceFiles& files, const std::string& name) const {
    const Result<SourceFiles::Text> text = files.read(root_ / name, FileKind::Kernel);
    return text ? **text : text.error().message;
  }

  const ScratchDirectory scratch_;
  const fs::path& root_ = scratch_.path;
};

TEST_F(SourceFilesTest, AFileHasTheBytesItHadWhenItWasFirstRead) {
  const SourceFiles files({root_});
  put("a", "one");
  EXPECT_EQ(read(files, "a"), "one");
  put("a", "two");
  EXPECT_EQ(read(files, "a"), "one");
  EXPECT_EQ(read(files, "./b/../a"), "one");
  const SourceFiles same = files;
  EXPECT_EQ(read(same, "a"), "one");
  EXPECT_EQ(files.read(root_ / "a", FileKind::Kernel).value(), same.read(root_ / "a", FileKind::Kernel).value());
  EXPECT_EQ(read(SourceFiles({root_}), "a"), "two");
}

TEST_F(SourceFilesTest, AFileThatWasMissingStaysMissing) {
  const SourceFiles files({root_});
  const std::string missing = "cannot open '" + (root_ / "a").string() + "': No such file or directory";
  EXPECT_EQ(read(files, "a"), missing);
  put("a", "late");
  EXPECT_EQ(read(files, "a"), missing);
}

TEST_F(SourceFilesTest, NothingBelowARootIsReachedThroughALink) {
  put("real/x", "text");
  fs::create_directory_symlink("real", root_ / "given");
  fs::create_directory_symlink("../real", root_ / "real/again");
  EXPECT_EQ(read(SourceFiles({root_ / "given"}), "given/x"), "text");
  EXPECT_EQ(read(SourceFiles({root_ / "given/"}), "given/x"), "text");
  EXPECT_EQ(read(SourceFiles({root_}), "given/x"), "found a link, expected a regular file");
  EXPECT_EQ(read(SourceFiles({root_ / "given"}), "given/again/x"), "found a link, expected a regular file");
}

TEST_F(SourceFilesTest, RootsAndFilesMayBeRelative) {
  put("real/x", "text");
  fs::create_directory_symlink("real", root_ / "link");
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  const SourceFiles files({"."});
  EXPECT_EQ(files.read("link/x", FileKind::Line).error().message, "found a link, expected a regular file");
  EXPECT_EQ(files.read(root_ / "link/x", FileKind::Line).error().message, "found a link, expected a regular file");
  EXPECT_EQ(files.read("real/x", FileKind::Line).value(), files.read(root_ / "real/x", FileKind::Line).value());
  fs::current_path(before);
}

TEST_F(SourceFilesTest, TheDirectoryOfAFileBelowNoRootIsItsRoot) {
  put("real/x", "text");
  fs::create_directory_symlink("real", root_ / "given");
  fs::create_symlink("x", root_ / "real/link");
  EXPECT_EQ(read(SourceFiles(), "given/x"), "text");
  EXPECT_EQ(read(SourceFiles(), "given/link"), "found a link, expected a regular file");
}

TEST_F(SourceFilesTest, AllFilesTogetherAreBounded) {
  const SourceFiles files({root_});
  const std::string large(most_bytes(FileKind::Kernel), ' ');
  const size_t most = SourceFiles::kMostBytes / large.size();
  for (size_t i = 0; i < most; ++i) {
    const fs::path file = root_ / std::to_string(i);
    put(file.filename(), "");
    fs::resize_file(file, large.size());
    ASSERT_TRUE(files.read(file, FileKind::Kernel));
  }
  put("more", "x");
  EXPECT_EQ(read(files, "more"),
            "the files that are read with this one are too large: found more than 268435456 bytes together");
}

}  // namespace
}  // namespace passnet
