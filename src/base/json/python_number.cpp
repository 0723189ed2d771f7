#include "base/json/python_number.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace passnet::python {

namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kBits = 64;

bool divides(std::string_view op) { return op == "/" || op == "//" || op == "%"; }

}  // namespace

Integer add(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : Integer(result);
}

Integer subtract(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? std::nullopt : Integer(result);
}

Integer multiply(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : Integer(result);
}

Integer floor_divide(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return subtract(0, a);  // the lowest integer has no opposite, and the processor traps on dividing it
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Integer modulo(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Integer power(int64_t a, int64_t b) {
  if (b < 0) return std::nullopt;
  Integer result = 1, square = a;
  for (;;) {
    if (b & 1) result = square ? multiply(*result, *square) : std::nullopt;
    b >>= 1;
    if (!result || b == 0) return result;
    if (square) square = multiply(*square, *square);
  }
}

Integer shift_left(int64_t a, int64_t b) {
  if (b < 0) return std::nullopt;
  if (a == 0) return 0;
  if (b >= kBits) return std::nullopt;
  if (b == kBits - 1) return a == -1 ? Integer(kLowest) : std::nullopt;
  return multiply(a, int64_t{1} << b);
}

Integer shift_right(int64_t a, int64_t b) {
  if (b < 0) return std::nullopt;
  if (b >= kBits) return a < 0 ? -1 : 0;
  return a >> b;
}

Integer greatest_common_divisor(int64_t a, int64_t b) {
  const auto size = [](int64_t x) { return x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x); };
  const uint64_t divisor = std::gcd(size(a), size(b));
  return divisor > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ? std::nullopt
                                                                              : Integer(static_cast<int64_t>(divisor));
}

Integer to_integer(double a) {
  constexpr double kEnd = 9223372036854775808.0;  // 2 ** 63
  return a >= -kEnd && a < kEnd ? Integer(static_cast<int64_t>(a)) : std::nullopt;
}

Real divide(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
}

Real divide(double a, double b) { return b == 0 ? std::nullopt : Real(a / b); }

Real floor_divide(double a, double b) {
  if (b == 0) return std::nullopt;
  const double rest = std::fmod(a, b);
  const bool adjust = rest != 0 && (rest < 0) != (b < 0);
  const double quotient = (a - rest) / b - (adjust ? 1 : 0), below = std::floor(quotient);
  if (quotient == 0) return std::copysign(0.0, a / b);
  return quotient - below > 0.5 ? below + 1 : below;  // the quotient is an integer but for rounding
}

Real modulo(double a, double b) {
  if (b == 0) return std::nullopt;
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

Real power(double a, double b) {
  if (a == 0 && b < 0) return std::nullopt;
  const double result = std::pow(a, b);
  if (std::isnan(result) && !std::isnan(a) && !std::isnan(b)) return std::nullopt;
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return std::nullopt;
  return result;
}

std::string why_nothing(int64_t a, std::string_view op, int64_t b) {
  if (b == 0 && divides(op)) return fmt::format("division by zero: {} {} 0", a, op);
  if (b < 0 && (op == "<<" || op == ">>")) return fmt::format("negative shift: {} {} {}", a, op, b);
  if (b < 0 && op == "**") return "division by zero: 0 to a negative power";
  return fmt::format("integer overflow: {} {} {} does not fit into 64 bits", a, op, b);
}

std::string why_nothing(double a, std::string_view op, double b) {
  if (b == 0 && divides(op)) return fmt::format("division by zero: {} {} {}", a, op, b);
  if (a == 0) return "division by zero: 0.0 to a negative power";
  if (std::isnan(std::pow(a, b))) return fmt::format("{} {} {} is not a real number", a, op, b);
  return fmt::format("overflow: {} {} {} is too large for a float", a, op, b);
}

}  // namespace passnet::python
