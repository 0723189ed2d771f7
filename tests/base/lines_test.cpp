#include "base/text/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Found {
  uint32_t number;
  std::string line;
  bool whole;
  bool operator==(const Found&) const = default;
};

/// Returns the lines that both readers find in a text, which must be the same.
std::vector<Found> lines_in(const std::string& text) {
  const ScratchDirectory scratch;
  std::vector<Found> of_text, of_file;
  const auto into = [](std::vector<Found>& found) {
    return [&found](uint32_t number, std::string_view line, bool whole) {
      found.push_back({number, std::string(line), whole});
      return true;
    };
  };
  for_each_line(text, into(of_text));
  EXPECT_TRUE(write_file(scratch.path / "lines", text));
  EXPECT_TRUE(for_each_line_of(scratch.path / "lines", into(of_file)));
  EXPECT_EQ(of_text, of_file);
  return of_text;
}

TEST(Lines, AreNumberedAndThoseThatAreBlankAreSkipped) {
  EXPECT_THAT(lines_in("a\n\n  b \n"), ElementsAre(Found{1, "a", true}, Found{3, "b", true}));
  EXPECT_THAT(lines_in(""), ElementsAre());
  EXPECT_THAT(lines_in("\n \n"), ElementsAre());
}

TEST(Lines, TheLastMayBeTorn) { EXPECT_THAT(lines_in("a\nb"), ElementsAre(Found{1, "a", true}, Found{2, "b", false})); }

TEST(Lines, MayBeLongerThanWhatIsReadAtATime) {
  const std::string lengthy(300'000, 'x');
  EXPECT_THAT(lines_in(lengthy + "\nb\n" + lengthy),
              ElementsAre(Found{1, lengthy, true}, Found{2, "b", true}, Found{3, lengthy, false}));
}

TEST(Lines, OfAFileStopWhenAskedTo) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_file(scratch.path / "lines", "a\nb\nc\n"));
  int seen = 0;
  EXPECT_TRUE(for_each_line_of(scratch.path / "lines", [&](uint32_t, std::string_view, bool) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

TEST(Lines, ThatAreTooLongAreRefusedBeforeTheyAreHeld) {
  const ScratchDirectory scratch;
  const std::filesystem::path path = scratch.path / "lines";
  ASSERT_TRUE(write_file(path, "a\n"));
  std::filesystem::resize_file(path, kMostOfALine * 8);  // a hole
  int seen = 0;
  const Result<void> read = for_each_line_of(path, [&](uint32_t, std::string_view, bool) { return ++seen > 0; });
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()),
              HasSubstr("lines:2:1: error: the line is too long, expected at most 67108864 bytes"));
  EXPECT_EQ(seen, 1);
}

TEST(Lines, OfAFileThatIsMissingAreBadInput) {
  const Result<void> read = for_each_line_of("/nowhere/x", [](uint32_t, std::string_view, bool) { return true; });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, Error::Kind::BadInput);
}

}  // namespace
}  // namespace passnet
