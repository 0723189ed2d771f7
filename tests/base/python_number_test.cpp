// The expected values are Python's own (integers of any size there; what does not fit into 64 bits is nothing here).
#include "base/json/python_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace passnet::python {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
constexpr std::nullopt_t kNothing = std::nullopt;

struct Case {
  int64_t a;
  const char* op;
  int64_t b;
  Integer expected;
};

Integer apply(int64_t a, std::string_view op, int64_t b) {
  if (op == "+") return add(a, b);
  if (op == "-") return subtract(a, b);
  if (op == "*") return multiply(a, b);
  if (op == "//") return floor_divide(a, b);
  if (op == "%") return modulo(a, b);
  if (op == "**") return power(a, b);
  if (op == "<<") return shift_left(a, b);
  if (op == ">>") return shift_right(a, b);
  return greatest_common_divisor(a, b);
}

// A table: a line a case.
TEST(PythonNumber, IntegersAreThoseOfPythonOrNothing) {
  const Case cases[] = {
      {kMax, "+", 1, kNothing},
      {kMin, "+", -1, kNothing},
      {kMax, "+", kMin, -1},
      {kMin, "-", 1, kNothing},
      {0, "-", kMin, kNothing},
      {-1, "-", kMin, kMax},
      {kMax, "*", 2, kNothing},
      {kMin, "*", -1, kNothing},
      {int64_t{1} << 32, "*", 1 << 30, int64_t{1} << 62},
      {7, "//", 2, 3},
      {-7, "//", 2, -4},
      {7, "//", -2, -4},
      {-7, "//", -2, 3},
      {kMin, "//", -1, kNothing},
      {kMin, "//", 1, kMin},
      {kMin, "//", kMax, -2},
      {1, "//", 0, kNothing},
      {kMax, "//", kMin, -1},
      {7, "%", 2, 1},
      {-7, "%", 2, 1},
      {7, "%", -2, -1},
      {-7, "%", -2, -1},
      {kMin, "%", -1, 0},
      {kMin, "%", kMax, kMax - 1},
      {kMax, "%", kMin, -1},
      {1, "%", 0, kNothing},
      {6, "%", -3, 0},
      {2, "**", 62, int64_t{1} << 62},
      {2, "**", 63, kNothing},
      {-2, "**", 63, kMin},
      {-2, "**", 64, kNothing},
      {0, "**", 0, 1},
      {0, "**", kMax, 0},
      {1, "**", kMax, 1},
      {-1, "**", kMax, -1},
      {-1, "**", kMax - 1, 1},
      {2, "**", int64_t{1} << 62, kNothing},
      {3, "**", kMax, kNothing},
      {3, "**", 39, 4052555153018976267},
      {3, "**", 40, kNothing},
      {2, "**", -1, kNothing},
      {kMin, "**", 1, kMin},
      {kMin, "**", 2, kNothing},
      {1, "<<", 62, int64_t{1} << 62},
      {1, "<<", 63, kNothing},
      {-1, "<<", 63, kMin},
      {-1, "<<", 64, kNothing},
      {1, "<<", 64, kNothing},
      {0, "<<", kMax, 0},
      {1, "<<", -1, kNothing},
      {-3, "<<", 2, -12},
      {kMax, "<<", 1, kNothing},
      {kMin, "<<", 0, kMin},
      {1, "<<", kMax, kNothing},
      {5, ">>", 1, 2},
      {-5, ">>", 1, -3},
      {kMin, ">>", 63, -1},
      {kMin, ">>", 64, -1},
      {kMax, ">>", 64, 0},
      {kMax, ">>", kMax, 0},
      {1, ">>", -1, kNothing},
      {12, "gcd", -18, 6},
      {0, "gcd", 0, 0},
      {kMin, "gcd", 0, kNothing},
      {kMin, "gcd", kMin, kNothing},
      {kMin, "gcd", 6, 2},
  };
  for (const Case& one : cases)
    EXPECT_EQ(apply(one.a, one.op, one.b), one.expected) << one.a << " " << one.op << " " << one.b;
}

TEST(PythonNumber, FloatsAreThoseOfPython) {
  EXPECT_EQ(floor_divide(6.0, 0.1), 59.0);  // though 6.0 / 0.1 is 60.0
  EXPECT_EQ(floor_divide(-1.0, 3.0), -1.0);
  EXPECT_EQ(modulo(-1.0, 3.0), 2.0);
  EXPECT_EQ(modulo(1e300, 7.0), 1.0);
  EXPECT_EQ(modulo(1.0, -3.0), -2.0);
  EXPECT_TRUE(std::signbit(*modulo(3.0, -3.0)));
  EXPECT_EQ(divide(int64_t{1}, int64_t{3}), 1.0 / 3);
  EXPECT_EQ(divide(kMin, int64_t{-1}), 9223372036854775808.0);
  EXPECT_EQ(power(2.0, -1.0), 0.5);
  EXPECT_EQ(to_integer(-9223372036854775808.0), kMin);
  for (const double none : {9223372036854775808.0, -1e300, HUGE_VAL, std::nan("")})
    EXPECT_EQ(to_integer(none), kNothing);
  EXPECT_EQ(divide(1.0, 0.0), kNothing);
  EXPECT_EQ(divide(int64_t{1}, int64_t{0}), kNothing);
  EXPECT_EQ(floor_divide(1.0, 0.0), kNothing);
  EXPECT_EQ(modulo(1.0, 0.0), kNothing);
  EXPECT_EQ(power(0.0, -1.0), kNothing);
  EXPECT_EQ(power(-1.0, 0.5), kNothing);
  EXPECT_EQ(power(10.0, 400.0), kNothing);
}

TEST(PythonNumber, SaysWhyThereIsNothing) {
  EXPECT_EQ(why_nothing(int64_t{1}, "//", int64_t{0}), "division by zero: 1 // 0");
  EXPECT_EQ(why_nothing(kMax, "+", int64_t{1}), "integer overflow: 9223372036854775807 + 1 does not fit into 64 bits");
  EXPECT_EQ(why_nothing(int64_t{1}, "<<", int64_t{-1}), "negative shift: 1 << -1");
  EXPECT_EQ(why_nothing(int64_t{0}, "**", int64_t{-1}), "division by zero: 0 to a negative power");
  EXPECT_EQ(why_nothing(1.5, "%", 0.0), "division by zero: 1.5 % 0");
  EXPECT_EQ(why_nothing(0.0, "**", -1.0), "division by zero: 0.0 to a negative power");
  EXPECT_EQ(why_nothing(-1.0, "**", 0.5), "-1 ** 0.5 is not a real number");
  EXPECT_EQ(why_nothing(10.0, "**", 400.0), "overflow: 10 ** 400 is too large for a float");
}

}  // namespace
}  // namespace passnet::python
