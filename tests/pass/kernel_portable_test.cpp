// kernel.h compiled as this test is, without -march=native: on x86-64 the path without AVX, F16C and FMA.
#include <gtest/gtest.h>
#include <passnet/kernel.h>

#include <bit>
#include <cmath>
#include <vector>

namespace {

using passnet::vec;

/// x through T and back, by blocks of 16 and one by one.
template <class T>
void expect_same_conversions() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 99991)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  const auto n = static_cast<int64_t>(x.size());
  std::vector<T> narrow(x.size());
  std::vector<float> wide(x.size());
  passnet::from_floats(x.data(), n, narrow.data());
  passnet::to_floats(narrow.data(), n, wide.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const float expected = passnet::to_float(passnet::from_float<T>(x[i]));
    ASSERT_TRUE(wide[i] == expected || (std::isnan(wide[i]) && std::isnan(expected))) << x[i];
  }
}

TEST(KernelPortable, ConvertsEveryElementType) {
  expect_same_conversions<float>();
  expect_same_conversions<double>();
  expect_same_conversions<passnet::float16>();
  expect_same_conversions<passnet::bfloat16>();
}

/// What is stored of a relu, bit by bit, whether it is rounded before or not.
template <class T>
void expect_same_relu() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 99991)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const float size : {0.0f, passnet::kRoundedToZero<T>, 0x1p-24f, 0x1p-133f, 0x1p-14f, 65520.0f, INFINITY, NAN}) {
    for (const float near : {size, std::nextafter(size, 0.0f), std::nextafter(size, INFINITY)})
      x.insert(x.end(), {near, -near});
  }
  const auto bits_of = [](T value) { return std::bit_cast<uint16_t>(value); };
  while (x.size() % 16 != 0) x.push_back(0);
  for (size_t i = 0; i < x.size(); i += 16) {
    T after[16], vectors[16];
    const vec v = passnet::load(x.data() + i), rounded = passnet::rounded<T>(v);
    passnet::store(after, select(rounded < 0, 0, rounded));
    passnet::store(vectors, passnet::relu_before_rounding<T>(v));
    for (int k = 0; k < 16; ++k) {
      const T one = passnet::from_float<T>(passnet::relu_before_rounding<T>(x[i + k]));
      ASSERT_EQ(bits_of(after[k]), bits_of(vectors[k])) << x[i + k];
      ASSERT_TRUE(bits_of(after[k]) == bits_of(one) || std::isnan(x[i + k])) << x[i + k];
    }
  }
}

TEST(KernelPortable, RoundsTheReluOfWhatWasNotRounded) {
  expect_same_relu<passnet::float16>();
  expect_same_relu<passnet::bfloat16>();
}

TEST(KernelPortable, ComputesInEveryLane) {
  float x[16], out[16];
  for (int i = 0; i < 16; ++i) x[i] = 0.37f * static_cast<float>(i - 8);
  const auto expect = [&](vec found, double (*exact)(double), const char* name) {
    passnet::store(out, found);
    for (int i = 0; i < 16; ++i)
      EXPECT_NEAR(out[i], exact(x[i]), 4e-7 * std::fmax(1, std::fabs(exact(x[i])))) << name << " at " << x[i];
  };
  const vec v = passnet::load(x);
  expect(exp(v), std::exp, "exp");
  expect(tanh(v), std::tanh, "tanh");
  expect(erf(v), std::erf, "erf");
  expect(sin(v), std::sin, "sin");
  expect(cos(v), std::cos, "cos");
  expect(expm1(v), std::expm1, "expm1");
  expect(
      sqrt(abs(v)), [](double a) { return std::sqrt(std::fabs(a)); }, "sqrt");
  expect(
      log(abs(v) + 0.5f), [](double a) { return std::log(std::fabs(a) + 0.5); }, "log");
  expect(
      max(v, vec(0.5f)), [](double a) { return std::fmax(a, 0.5); }, "max");
}

TEST(KernelPortable, ReducesAndSelects) {
  std::vector<float> x(100);
  for (int i = 0; i < 100; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i);
  for (int n : {1, 15, 16, 17, 63, 64, 65, 100}) {
    EXPECT_EQ(passnet::sum(x.data(), n), static_cast<float>(n * (n - 1) / 2));
    EXPECT_EQ(passnet::max(x.data(), n), static_cast<float>(n - 1));
  }
  float out[16];
  for (int lanes = 0; lanes <= 16; ++lanes) {
    passnet::store(out, passnet::select(passnet::first_lanes(lanes), vec(1.0f), vec(2.0f)));
    for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], i < lanes ? 1.0f : 2.0f);
  }
}

PASSNET_KERNEL number(int64_t* out) { out[passnet::task_index()] = passnet::task_index(1); }

TEST(KernelPortable, Launches) {
  int64_t out[6] = {};
  const passnet_arg arg{.pointer = out};
  const passnet_launch launch{&arg, {3, 2, 1}, 1, 0};
  passnet::detail::Launcher<&number>::run(&launch, 0, 6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out[i], i / 3);
}

}  // namespace
