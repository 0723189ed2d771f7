// Python's arithmetic on 64-bit integers and floats: what plans, shapes and graphs compute with. Every function gives
// nothing where Python raises, and where an integer does not fit into 64 bits; nothing here overflows, traps or takes
// longer than a few dozen steps, whatever the operands are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace passnet::python {

using Integer = std::optional<int64_t>;
using Real = std::optional<double>;

Integer add(int64_t a, int64_t b);
Integer subtract(int64_t a, int64_t b);
Integer multiply(int64_t a, int64_t b);
/// a // b, towards minus infinity.
Integer floor_divide(int64_t a, int64_t b);
/// a % b, of the sign of b.
Integer modulo(int64_t a, int64_t b);
/// a ** b; nothing for a negative b, whose result is a float.
Integer power(int64_t a, int64_t b);
/// a << b and a >> b; nothing for a negative b.
Integer shift_left(int64_t a, int64_t b);
Integer shift_right(int64_t a, int64_t b);
/// math.gcd(a, b).
Integer greatest_common_divisor(int64_t a, int64_t b);
/// int(a), for a float without a fraction; nothing for nan and what is too large.
Integer to_integer(double a);

/// a / b of integers.
Real divide(int64_t a, int64_t b);
Real divide(double a, double b);
Real floor_divide(double a, double b);
Real modulo(double a, double b);
/// a ** b; nothing where the result is no real number, or infinite though a and b are finite.
Real power(double a, double b);

/// Why `a op b` gave nothing: "division by zero: 1 // 0", "integer overflow: 2 ** 64 does not fit into 64 bits".
std::string why_nothing(int64_t a, std::string_view op, int64_t b);
std::string why_nothing(double a, std::string_view op, double b);

}  // namespace passnet::python
