// What is remembered of kernels that the compiler refused.
#include "pass/triton/refusals.h"

#include <gtest/gtest.h>

namespace passnet::pass {
namespace {

TEST(Refusals, OfBadPassesAreTheSameWhenAskedAgain) {
  EXPECT_EQ(known_refusal("key of a bad pass"), std::nullopt);
  remember_refusal("key of a bad pass", bad_pass("y is not defined", SourceLoc{"Name.py", 6, 17}));
  const std::optional<Error> known = known_refusal("key of a bad pass");
  ASSERT_TRUE(known);
  EXPECT_EQ(to_string(*known), "Name.py:6:17: error: y is not defined");
  EXPECT_EQ(known_refusal("another key"), std::nullopt);
}

TEST(Refusals, AreForgottenWhereTheMachineWasShortOfSomething) {
  remember_refusal("key of a slow one", resource_error("compiling kernel 'k' takes more than 30 s of time"));
  EXPECT_EQ(known_refusal("key of a slow one"), std::nullopt);
}

}  // namespace
}  // namespace passnet::pass
