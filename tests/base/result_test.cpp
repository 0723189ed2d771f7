#include "base/result.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "base/check.h"

namespace passnet {
namespace {

using ::testing::HasSubstr;

Result<int> half_of(int value) {
  if (value % 2) return bad_input("expected an even number, found '" + std::to_string(value) + "'");
  return value / 2;
}

Result<int> quarter_of(int value) {
  PASSNET_TRY(const int half, half_of(value));
  PASSNET_TRY(const int quarter, half_of(half));
  return quarter;
}

Result<void> accept_even(int value) {
  PASSNET_TRY_VOID(half_of(value));
  return {};
}

TEST(Result, TryAssignsValuesAndReturnsTheFirstError) {
  EXPECT_EQ(quarter_of(12).value(), 3);
  EXPECT_EQ(quarter_of(6).error().message, "expected an even number, found '3'");
  EXPECT_EQ(quarter_of(7).error().message, "expected an even number, found '7'");
}

TEST(Result, TryVoidReturnsTheError) {
  EXPECT_TRUE(accept_even(2).has_value());
  EXPECT_EQ(accept_even(5).error().message, "expected an even number, found '5'");
}

TEST(Error, PrintsPlaceHintAndNotesOneLineEach) {
  const Error error = bad_input("unknown op 'torch.reluu'", SourceLoc{"model.py", 41, 17})
                          .with_hint("did you mean 'torch.relu'?")
                          .with_note("while loading 'a'")
                          .with_note("in sample 'b'");
  EXPECT_EQ(to_string(error),
            "model.py:41:17: error: unknown op 'torch.reluu'\n"
            "hint: did you mean 'torch.relu'?\n"
            "note: while loading 'a'\n"
            "note: in sample 'b'");
}

TEST(Error, PrintsAWholeFileWithoutALine) {
  EXPECT_EQ(to_string(bad_input("is empty", SourceLoc{"graph_list.txt", 0, 0})), "graph_list.txt: error: is empty");
  EXPECT_EQ(to_string(resource_error("no memory")), "error: no memory");
}

TEST(Error, OfErrnoNamesTheActionThePathAndTheReason) {
  const Error error = io_error("open", "/nowhere/x", ENOENT);
  EXPECT_EQ(error.kind, Error::Kind::Io);
  EXPECT_EQ(error.message, "cannot open '/nowhere/x': No such file or directory");
}

TEST(Error, KindsHaveTheNamesOfRecords) {
  EXPECT_STREQ(to_string(bad_input("").kind), "bad-input");
  EXPECT_STREQ(to_string(bad_pass("").kind), "bad-pass");
  EXPECT_STREQ(to_string(unsupported("").kind), "unsupported");
  EXPECT_STREQ(to_string(resource_error("").kind), "resource");
  EXPECT_STREQ(to_string(io_error("", "", EIO).kind), "io");
}

TEST(Check, ThrowsWithConditionPlaceAndDetailOnlyWhenBroken) {
  EXPECT_NO_THROW(PASSNET_CHECK(1 + 1 == 2, "sums"));
  try {
    PASSNET_CHECK(1 + 1 == 3, "sums");
    FAIL() << "expected InternalError";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("result_test.cpp:"));
    EXPECT_THAT(error.what(), HasSubstr(": sums (1 + 1 == 3 does not hold)"));
  }
}

}  // namespace
}  // namespace passnet
