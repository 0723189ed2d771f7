#include "author/subject/memory.h"

#include <gtest/gtest.h>

#include "tests/author/example.h"

namespace passnet::author {
namespace {

constexpr const char* kInOrder = R"({"dtype": "float32", "shape": [2, 3, 4, 5]})";
constexpr const char* kChannelsLast = R"({"dtype": "float32", "shape": [2, 3, 4, 5], "strides": [60, 1, 15, 3]})";

/// Tells whether `y = x.contiguous(…)` lies where x does, both of these types.
bool shares(const std::string& options, const char* from, const char* to) {
  const Subject subject = merge({example("one", "x", "        y = x.contiguous(" + options + ")\n        return (y,)\n",
                                         {{"x", from}, {"y", to}})});
  return shares_memory(subject, subject.body());
}

TEST(Memory, IsSharedByWhatLiesAsItIsAskedFor) {
  EXPECT_TRUE(shares("", kInOrder, kInOrder));
  EXPECT_TRUE(shares("memory_format = torch.channels_last", kChannelsLast, kChannelsLast));
}

TEST(Memory, IsOfItsOwnWhereAnotherFormatIsAskedFor) {
  EXPECT_FALSE(shares("", kChannelsLast, kInOrder));
  EXPECT_FALSE(shares("memory_format = torch.channels_last", kInOrder, kChannelsLast));
}

}  // namespace
}  // namespace passnet::author
