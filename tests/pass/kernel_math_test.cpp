// The accuracy that include/passnet/math.h states, on a sweep over all floats, and the values at the edges.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernel_fixture.h"
#include "loaded_kernel.h"
#include "tests/tiers.h"

namespace passnet::pass {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Function {
  const char* text;  // in a kernel, of a float or vec x
  double (*exact)(double);
  double low, high;  // where `ulp` holds
  double ulp;        // largest error in units of the last place of the result
};
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
const Function kFunctions[] = {
    {"exp(x)", std::exp, -kInfinity, kInfinity, 1.1},
    {"expm1(x)", std::expm1, -kInfinity, kInfinity, 1.5},
    {"log(x)", std::log, -kInfinity, kInfinity, 0.8},
    {"log1p(x)", std::log1p, -kInfinity, kInfinity, 1.5},
    {"tanh(x)", std::tanh, -kInfinity, kInfinity, 1.4},
    {"sigmoid(x)", sigmoid, -88, kInfinity, 2.5},
    {"silu(x)", [](double x) { return x * sigmoid(x); }, -88, kInfinity, 2.3},
    {"erf(x)", std::erf, -kInfinity, kInfinity, 1.2},
    {"softplus(x)", [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); }, -kInfinity, kInfinity, 2.8},
    {"sin(x)", std::sin, -1e38, 1e38, 1.5},
    {"cos(x)", std::cos, -1e38, 1e38, 1.5},
    {"sqrt(x)", std::sqrt, -kInfinity, kInfinity, 0.5},
    {"rsqrt(x)", [](double x) { return 1 / std::sqrt(x); }, -kInfinity, kInfinity, 1.5},
    {"abs(x)", std::fabs, -kInfinity, kInfinity, 0},
    {"relu(x)", [](double x) { return x < 0 ? 0 : x; }, -kInfinity, kInfinity, 0},
    {"clamp(x, -1.0f, 2.0f)", [](double x) { return x < -1  ? -1
                                                    : x > 2 ? 2
                                                            : x; }, -kInfinity, kInfinity, 0},
    {"hardsigmoid(x)", [](double x) { return x < -3  ? 0
                                             : x > 3 ? 1
                                                     : (x + 3) / 6; }, -2.9, kInfinity, 2.6},
    {"hardswish(x)", [](double x) { return x *
                                           (x < -3  ? 0
                                            : x > 3 ? 6
                                                    : x + 3) /
                                           6; }, -2.9, 1e37, 2.3},
    {"max(x, decltype(x)(1.5f))", [](double x) { return x > 1.5         ? x
                                                        : std::isnan(x) ? x
                                                                        : 1.5; }, -kInfinity, kInfinity,
     0},
    {"min(decltype(x)(1.5f), x)", [](double x) { return x < 1.5         ? x
                                                        : std::isnan(x) ? x
                                                                        : 1.5; }, -kInfinity, kInfinity,
     0},
};
/// Errors of these are small against max(1, |x|), not against the result.
const Function kAbsolute[] = {
    {"gelu(x)", [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }, -1e30, kInfinity, 1.5e-7},
    {"gelu<float16>(x)", [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }, -1e30, kInfinity, 2e-7},
    {"gelu_tanh(x)", [](double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }, -1e10,
     1e12, 1.5e-7},
};

double unit_in_last_place(double value) {
  const double size = std::fabs(value);
  return size < std::numeric_limits<float>::min() ? 0x1p-149 : std::ldexp(1.0, std::ilogb(size) - 23);
}

class KernelMath : public KernelFixture {
 protected:
  /// out_vector and out_scalar of `text` at every x.
  void evaluate(const std::string& text, const std::vector<float>& x, std::vector<float>* vector,
                std::vector<float>* scalar) {
    const auto built = build(
        "#include <passnet/kernel.h>\nusing namespace passnet;\nPASSNET_KERNEL k(const float* from, float* "
        "a, float* b, int64_t n) {\n"
        "  for_blocks(0, n, [&](int64_t i, int lanes) { const vec x = load(from + i, lanes); store(a + i, " +
        text +
        ", lanes); });\n"
        "  for (int64_t i = 0; i < n; ++i) { const float x = from[i]; b[i] = " +
        text + "; }\n}\n");
    ASSERT_TRUE(built) << to_string(built.error());
    vector->assign(x.size(), 7);
    scalar->assign(x.size(), 7);
    LoadedKernel kernel(*built);
    kernel(arguments(x.data(), vector->data(), scalar->data(), static_cast<int64_t>(x.size())), {1});
  }
  static std::vector<float> sweep() {
    std::vector<float> x = {0.0f,       -0.0f,    1.0f,   -1.0f,    INFINITY, -INFINITY, NAN,  0x1p-149f,
                            -0x1p-149f, 88.7228f, 88.73f, -103.97f, -104.1f,  3.0f,      -3.0f};
    for (uint64_t bits = 0; bits < (1ull << 32); bits += full_tier() ? 9973 : 49999)
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    for (float v = -20; v < 20; v += 0.001f) x.push_back(v);
    return x;
  }
};

/// Empty, or how `found` differs from `exact` by more than allowed.
std::string difference(float x, double exact, float found, double allowed) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(nearest) && std::isnan(found)) return "";
  if (nearest == found) return "";
  if (std::isinf(nearest) || std::isinf(found)) {  // at the edge of the range one ulp decides
    if (std::fabs(exact) > 3.402823e38 && std::fabs(found) > 3.402823e38f && std::signbit(exact) == std::signbit(found))
      return "";
  } else if (std::fabs(found - exact) <= allowed) {
    return "";
  }
  return fmt::format("at {}: {} instead of {}, off by {}, allowed {}", x, found, exact, std::fabs(found - exact),
                     allowed);
}

TEST_F(KernelMath, IsAsAccurateAsStated) {
  const std::vector<float> x = sweep();
  std::vector<float> vector, scalar;
  for (const Function& function : kFunctions) {
    ASSERT_NO_FATAL_FAILURE(evaluate(function.text, x, &vector, &scalar));
    for (size_t i = 0; i < x.size(); ++i) {
      if (!std::isnan(x[i]) && (x[i] < function.low || x[i] > function.high)) continue;
      const double exact = function.exact(x[i]), allowed = function.ulp * unit_in_last_place(exact);
      ASSERT_EQ(difference(x[i], exact, vector[i], allowed), "") << function.text << " of vec";
      ASSERT_EQ(difference(x[i], exact, scalar[i], allowed), "") << function.text << " of float";
    }
  }
}

TEST_F(KernelMath, GeluIsAsAccurateAsStated) {
  const std::vector<float> x = sweep();
  std::vector<float> vector, scalar;
  for (const Function& function : kAbsolute) {
    ASSERT_NO_FATAL_FAILURE(evaluate(function.text, x, &vector, &scalar));
    for (size_t i = 0; i < x.size(); ++i) {
      if (!std::isnan(x[i]) && (x[i] < function.low || x[i] > function.high)) continue;
      const double exact = function.exact(x[i]), allowed = function.ulp * std::fmax(1, std::fabs(x[i]));
      ASSERT_EQ(difference(x[i], exact, vector[i], allowed), "") << function.text << " of vec";
      ASSERT_EQ(difference(x[i], exact, scalar[i], allowed), "") << function.text << " of float";
    }
  }
}

TEST_F(KernelMath, KeepsTheSignOfZero) {
  std::vector<float> vector, scalar;
  for (const char* text : {"expm1(x)", "log1p(x)", "tanh(x)", "erf(x)", "sqrt(x)"}) {
    ASSERT_NO_FATAL_FAILURE(evaluate(text, {0.0f, -0.0f}, &vector, &scalar));
    EXPECT_FALSE(std::signbit(vector[0]) || std::signbit(scalar[0])) << text;
    EXPECT_TRUE(std::signbit(vector[1]) && std::signbit(scalar[1])) << text;
  }
}

TEST_F(KernelMath, DoubleGoesToLibm) {
  const auto built = build(
      "#include <passnet/kernel.h>\nPASSNET_KERNEL k(double x, double* out) { using namespace passnet;\n"
      "  out[0] = exp(x); out[1] = tanh(x); out[2] = erf(x); out[3] = sqrt(x); out[4] = log1p(x);\n}\n");
  ASSERT_TRUE(built) << to_string(built.error());
  std::vector<double> out(5);
  const volatile double x = 0.7;  // not folded by the compiler, which rounds better than libm
  LoadedKernel kernel(*built);
  kernel(arguments(double{x}, out.data()), {1});
  EXPECT_THAT(out, testing::ElementsAre(std::exp(x), std::tanh(x), std::erf(x), std::sqrt(x), std::log1p(x)));
}

}  // namespace
}  // namespace passnet::pass
