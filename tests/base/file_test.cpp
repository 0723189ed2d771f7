#include "base/file/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "base/file/replace.h"
#include "base/hash.h"
#include "tests/scratch.h"

namespace passnet {
namespace {

namespace fs = std::filesystem;

class File : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_)) found.push_back(entry.path().filename().string());
    return found;
  }

  const ScratchDirectory scratch_;
  const fs::path& directory_ = scratch_.path;
};

TEST_F(File, WrittenBytesAreReadBack) {
  const std::string content("a\0b\r\n\xff", 6);
  ASSERT_TRUE(write_file(directory_ / "x", content).has_value());
  EXPECT_EQ(read_file(directory_ / "x", FileKind::Lines).value(), content);
  ASSERT_TRUE(write_file(directory_ / "empty", "").has_value());
  EXPECT_EQ(read_file(directory_ / "empty", FileKind::Lines).value(), "");
  const std::vector<std::string_view> parts{"one, ", "", "two"};
  ASSERT_TRUE(write_file(directory_ / "parts", parts).has_value());
  EXPECT_EQ(read_file(directory_ / "parts", FileKind::Lines).value(), "one, two");
}

TEST_F(File, WritingMakesParentsReplacesWholeAndLeavesNoTemporary) {
  const fs::path path = directory_ / "deep" / "er" / "x";
  ASSERT_TRUE(write_file(path, "a long first version").has_value());
  ASSERT_TRUE(write_file(path, "short").has_value());
  EXPECT_EQ(read_file(path, FileKind::Lines).value(), "short");
  fs::rename(path, directory_ / "x");
  fs::remove(directory_ / "deep" / "er");
  fs::remove(directory_ / "deep");  // fails when a temporary were left
  EXPECT_THAT(names(), ::testing::ElementsAre("x"));
}

TEST_F(File, AFailedWriteKeepsTheOldContent) {
  const fs::path path = directory_ / "x";
  ASSERT_TRUE(write_file(path, "old").has_value());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  // A limit on file size stands in for a full disk: write() fails half-way.
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Result<void> written = write_file(path, std::string(100000, 'n'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind, Error::Kind::Io);
  EXPECT_EQ(written.error().message, "cannot write '" + path.string() + "': File too large");
  EXPECT_EQ(read_file(path, FileKind::Lines).value(), "old");
  EXPECT_THAT(names(), ::testing::ElementsAre("x"));
}

TEST_F(File, ADirectoryAppearsWithItsFilesAndIsNotReplaced) {
  const std::vector<NamedContent> files{{"a", "one"}, {"empty", ""}};
  const fs::path path = directory_ / "deep" / "x";
  ASSERT_TRUE(write_directory(path, files).has_value());
  EXPECT_EQ(read_file(path / "a", FileKind::Lines).value(), "one");
  EXPECT_EQ(read_file(path / "empty", FileKind::Lines).value(), "");
  const std::vector<NamedContent> others{{"a", "two"}};
  ASSERT_TRUE(write_directory(path, others).has_value());
  EXPECT_EQ(read_file(path / "a", FileKind::Lines).value(), "one");
  fs::rename(path, directory_ / "x");
  fs::remove(directory_ / "deep");  // fails when something were left beside
  EXPECT_THAT(names(), ::testing::ElementsAre("x"));
}

TEST_F(File, ADirectoryThatCannotBeFilledLeavesNothing) {
  const std::vector<NamedContent> files{{"a", "one"}, {"no/such", "two"}};
  const auto written = write_directory(directory_ / "x", files);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(to_string(written.error()), ::testing::HasSubstr("no/such"));
  EXPECT_THAT(names(), ::testing::IsEmpty());
}

TEST_F(File, WhatAKilledProcessLeftIsNotMixedIn) {
  const fs::path left = directory_ / (".x." + std::to_string(::getpid()));
  ASSERT_TRUE(write_file(left / "a", "half").has_value());
  ASSERT_TRUE(write_file(left / "b", "half").has_value());
  const std::vector<NamedContent> files{{"a", "one"}};
  ASSERT_TRUE(write_directory(directory_ / "x", files).has_value());
  EXPECT_EQ(read_file(directory_ / "x" / "a", FileKind::Lines).value(), "one");
  EXPECT_FALSE(entry_exists(directory_ / "x" / "b"));
}

TEST_F(File, MissingFilesAndDirectoriesAreErrorsThatNameThePath) {
  const fs::path missing = directory_ / "none";
  EXPECT_EQ(read_file(missing, FileKind::Lines).error().message,
            "cannot open '" + missing.string() + "': No such file or directory");
  EXPECT_EQ(to_string(read_file(directory_, FileKind::Lines).error()),
            directory_.string() + ": error: found a directory, expected a regular file");
}

TEST_F(File, ReadsFilesWhoseSizeIsNotKnownBefore) {
  const Result<std::string> status = read_file("/proc/self/status", FileKind::Lines);
  ASSERT_TRUE(status.has_value());
  EXPECT_THAT(*status, ::testing::HasSubstr("Name:"));
}

TEST_F(File, NeverWaitsForWhatIsNoFile) {
  const std::string pipe = (directory_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(to_string(read_file(pipe, FileKind::Line).error()),
            pipe + ": error: found a pipe, expected a regular file");
  EXPECT_EQ(to_string(open_file(pipe).error()), pipe + ": error: found a pipe, expected a regular file");
  EXPECT_EQ(to_string(read_file("/dev/zero", FileKind::Line).error()),
            "/dev/zero: error: found a device, expected a regular file");
}

TEST_F(File, RefusesAHugeFileUnread) {
  const std::string path = (directory_ / "sparse").string();
  ASSERT_TRUE(write_file(path, "x"));
  fs::resize_file(path, uintmax_t{1} << 40);
  EXPECT_EQ(to_string(read_file(path, FileKind::Kernel).error()),
            path + ": error: the file is too large: found 1099511627776 bytes, expected at most 1048576");
  fs::resize_file(path, most_bytes(FileKind::Line));
  EXPECT_EQ(read_file(path, FileKind::Line)->size(), 4096u);
}

TEST_F(File, BoundsFilesWhoseSizeIsNotKnownBefore) {
  // Memory of this process by the page: far more than a line.
  const Result<std::string> text = read_file("/proc/self/smaps", FileKind::Line);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, ::testing::EndsWith("expected at most 4096"));
}

TEST_F(File, FollowsLinksToWhatTheUserNamesAndNoneBelow) {
  ASSERT_TRUE(write_file(directory_ / "real/in/x", "text"));
  fs::create_directory_symlink("real", directory_ / "home");
  const fs::path root = directory_ / "home";
  EXPECT_EQ(read_file(root / "in/x", FileKind::Line).value(), "text");
  EXPECT_EQ(read_beneath(root, "in/x", FileKind::Line).value(), "text");
  EXPECT_EQ(read_beneath(root, "./in/../in/x", FileKind::Line).value(), "text");
  const auto refused = [&](const fs::path& file) {
    const Result<std::string> text = read_beneath(root, file, FileKind::Line);
    return text ? *text : replace_all(to_string(text.error()), directory_.string() + "/", "");
  };
  const std::string hint = "\nhint: below 'home' no link is followed: put there what it points to";
  fs::create_symlink("x", root / "in/link");
  EXPECT_EQ(refused("in/link"), "home/in/link: error: found a link, expected a regular file" + hint);
  fs::create_directory_symlink("in", root / "out");
  EXPECT_EQ(refused("out/x"), "home/out/x: error: found a link, expected a regular file" + hint);
  fs::create_symlink("itself", root / "itself");
  EXPECT_EQ(refused("itself"), "home/itself: error: found a link, expected a regular file" + hint);
  EXPECT_EQ(refused("../real/in/x"), "home/../real/in/x: error: the path leads out of 'home'");
  EXPECT_EQ(refused(directory_ / "real/in/x"), "real/in/x: error: the path leads out of 'home'");
  EXPECT_EQ(refused("in/none"), "error: cannot open 'home/in/none': No such file or directory");
  EXPECT_EQ(refused("in/x/y"), "error: cannot open 'home/in/x/y': Not a directory");
  EXPECT_EQ(refused("in"), "home/in: error: found a directory, expected a regular file");
}

TEST_F(File, DescriptorsAreClosedOnce) {
  const int raw = ::open("/dev/null", O_RDONLY);
  {
    UniqueFd first(raw);
    UniqueFd second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: a moved-from descriptor is empty by contract
    EXPECT_EQ(second.get(), raw);
    first = std::move(second);
    EXPECT_EQ(first.get(), raw);
    EXPECT_EQ(::fcntl(raw, F_GETFD), 0);
  }
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
  UniqueFd released(::open("/dev/null", O_RDONLY));
  const int kept = released.release();
  EXPECT_FALSE(released);
  EXPECT_EQ(::close(kept), 0);
}

TEST_F(File, HomeFollowsTheEnvironment) {
  const char* before = std::getenv("PASSNET_HOME");
  const std::string saved = before ? before : "";
  ::setenv("PASSNET_HOME", "/some/where", 1);
  EXPECT_EQ(passnet_home(), "/some/where");
  ::unsetenv("PASSNET_HOME");
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(passnet_home(), "/home/someone/.cache/passnet");
  if (before) ::setenv("PASSNET_HOME", saved.c_str(), 1);
}

TEST(Hash, Sha256GivesThePublishedDigests) {
  // FIPS 180-2, appendix B.
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Hash, FastHashSeesEveryByteAndTheSeed) {
  const std::string text(1000, 'x');
  std::string changed = text;
  changed[999] = 'y';
  EXPECT_EQ(fast_hash(text.data(), text.size()), fast_hash(std::string(text).data(), text.size()));
  EXPECT_NE(fast_hash(text.data(), text.size()), fast_hash(changed.data(), changed.size()));
  EXPECT_NE(fast_hash(text.data(), text.size(), 0), fast_hash(text.data(), text.size(), 1));
  EXPECT_EQ(fast_hash("", 0), 0x2d06800538d394c2u);  // XXH3_64bits of nothing, as its authors publish
}

}  // namespace
}  // namespace passnet
