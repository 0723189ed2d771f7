// Plans that are refused when they run: tests/data/bad/plans.txt, and those that do not stand in a table.
#include <gtest/gtest.h>

#include "plan_support.h"
#include "tests/bad_inputs.h"
#include "tests/paths.h"

namespace passnet::pass {
namespace {

using test::error_text;
using test::plan_text;
using test::run_plan;
using test::tensor;

TEST(BadPlans, GiveTheExactMessageOfTheTable) {
  const std::vector<BadInput> inputs = read_bad_inputs((tests::source_dir() / "tests/data/bad/plans.txt").string());
  ASSERT_GE(inputs.size(), 75u);
  for (const BadInput& input : inputs)
    EXPECT_EQ(error_text(run_plan(input.text, {tensor({2, 3})})), input.message) << input.name;
}

TEST(BadPlans, OnAGpuLaunchWholeClusters) {
  const std::string text = plan_text("x", "    k[3](x, CLUSTER=2)\n    return x\n");
  EXPECT_EQ(error_text(run_plan(text, {tensor({2, 3})}, 1, true)),
            "P.py:4:5: error: grid (3) with CLUSTER=2: the first size must be a multiple of it");
}

TEST(BadPlans, MayBeTooLarge) {
  const auto file = parse_pass_file("P.py", std::make_shared<const std::string>(kMaxPassBytes + 1, '\n'));
  ASSERT_FALSE(file);
  EXPECT_EQ(to_string(file.error()), "P.py: error: pass file too large: found 1048577 bytes, expected at most 1048576");
}

}  // namespace
}  // namespace passnet::pass
