#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pass/kernel/build.h"

namespace passnet::pass {
namespace {

const SourceLoc kAt{"Name.py", 12, 5};

/// What check_launch says of one argument for one parameter. Buffer 0 is a float16 input, buffer 1 a float16
/// allocation.
std::string check(LaunchArg argument, const std::string& parameter) {
  LaunchList list;
  list.buffers = {{0, ir::contiguous(ir::DType::Float16, {4}), {}}, {-1, ir::contiguous(ir::DType::Float16, {4}), {}}};
  Launch launch;
  launch.kernel = "k";
  launch.args = {std::move(argument)};
  launch.at = kAt;
  BuiltKernel kernel;
  kernel.parameters = {parameter};
  const auto checked = check_launch(launch, list, kernel);
  return checked ? "fine" : to_string(checked.error());
}
View input() { return {0, 0, ir::contiguous(ir::DType::Float16, {4})}; }
View allocated() { return {1, 0, ir::contiguous(ir::DType::Float16, {4})}; }

TEST(CheckLaunch, TakesWhatFits) {
  EXPECT_EQ(check(input(), "const float16*"), "fine");
  EXPECT_EQ(check(allocated(), "float16*"), "fine");
  EXPECT_EQ(check(allocated(), "const float16*"), "fine");
  EXPECT_EQ(check(int64_t{5}, "int64_t"), "fine");
  EXPECT_EQ(check(int64_t{255}, "uint8_t"), "fine");
  EXPECT_EQ(check(0.5, "float"), "fine");
  EXPECT_EQ(check(0.5, "bfloat16"), "fine");
  EXPECT_EQ(check(true, "bool"), "fine");
  EXPECT_EQ(check(true, "int32_t"), "fine");
}

TEST(CheckLaunch, RefusesAnotherElementType) {
  EXPECT_EQ(check(input(), "const float*"),
            "Name.py:12:5: error: launch of 'k': argument 1 is a float16 tensor, but the kernel takes 'const "
            "float*'\n"
            "hint: pass T=x.dtype as a constant of the launch and write 'const T* x' in the kernel");
}

TEST(CheckLaunch, RefusesInputsThatTheKernelMayWrite) {
  EXPECT_EQ(check(input(), "float16*"),
            "Name.py:12:5: error: launch of 'k': argument 1 is an input that is needed afterwards, but the "
            "kernel may write to it: it takes 'float16*'\n"
            "hint: write 'const float16*' in the kernel");
}

TEST(CheckLaunch, RefusesScalarsOfAnotherKind) {
  EXPECT_EQ(check(int64_t{5}, "float"),
            "Name.py:12:5: error: launch of 'k': argument 1 is the integer 5, but the kernel takes "
            "'float'\nhint: write float(5)");
  EXPECT_EQ(check(int64_t{5}, "const float16*"),
            "Name.py:12:5: error: launch of 'k': argument 1 is the integer 5, but the kernel takes 'const "
            "float16*'");
  EXPECT_EQ(check(0.5, "int64_t"),
            "Name.py:12:5: error: launch of 'k': argument 1 is the float 0.5, but the kernel takes "
            "'int64_t'\nhint: write int(…)");
  EXPECT_EQ(check(true, "float"),
            "Name.py:12:5: error: launch of 'k': argument 1 is True, but the kernel takes 'float'");
  EXPECT_EQ(check(input(), "int64_t"),
            "Name.py:12:5: error: launch of 'k': argument 1 is a float16 tensor, but the kernel takes 'int64_t'\n"
            "hint: pass T=x.dtype as a constant of the launch and write 'const T* x' in the kernel");
}

TEST(CheckLaunch, RefusesIntegersOutOfRange) {
  EXPECT_EQ(check(int64_t{1} << 31, "int32_t"),
            "Name.py:12:5: error: launch of 'k': argument 1 is 2147483648, but the kernel takes 'int32_t': "
            "-2147483648 to 2147483647\nhint: use int64_t");
}

TEST(CheckLaunch, RefusesAnotherCount) {
  Launch launch;
  launch.kernel = "k";
  launch.at = kAt;
  BuiltKernel kernel;
  kernel.parameters = {"const float*", "float*", "int64_t"};
  EXPECT_EQ(to_string(check_launch(launch, {}, kernel).error()),
            "Name.py:12:5: error: launch of 'k' passes 0 arguments, but the kernel takes 3: (const float*, "
            "float*, int64_t)");
}

}  // namespace
}  // namespace passnet::pass
