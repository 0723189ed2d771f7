#include "record/tolerance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/check.h"

namespace passnet::record {
namespace {

// Spec E.3, complete: t -> atol/rtol as printed, for fp16, bf16, fp32, fp64.
struct Rung {
  int t;
  std::array<const char*, 4> printed;
};
constexpr std::array<const char*, 4> kDtypes = {"float16", "bfloat16", "float32", "float64"};
constexpr Rung kLadder[] = {
    {-10, {"1.00E-10/1.00E-06", "1.00E-10/2.56E-04", "1.00E-10/1.69E-12", "1.00E-14/1.00E-14"}},
    {-9, {"1.00E-09/3.98E-06", "1.00E-09/5.85E-04", "1.00E-09/2.54E-11", "2.51E-13/2.51E-13"}},
    {-8, {"1.00E-08/1.58E-05", "1.00E-08/1.34E-03", "1.00E-08/3.82E-10", "6.31E-12/6.31E-12"}},
    {-7, {"1.00E-07/6.31E-05", "1.00E-07/3.06E-03", "1.00E-07/5.75E-09", "1.58E-10/1.58E-10"}},
    {-6, {"1.00E-06/2.51E-04", "1.00E-06/7.00E-03", "1.00E-06/8.65E-08", "3.98E-09/3.98E-09"}},
    {-5, {"1.00E-05/1.00E-03", "1.00E-05/1.60E-02", "1.00E-05/1.30E-06", "1.00E-07/1.00E-07"}},
    {-4, {"1.00E-04/3.98E-03", "1.00E-04/3.66E-02", "1.00E-04/1.96E-05", "2.51E-06/2.51E-06"}},
    {-3, {"1.00E-03/1.58E-02", "1.00E-03/8.36E-02", "1.00E-03/2.94E-04", "6.31E-05/6.31E-05"}},
    {-2, {"1.00E-02/6.31E-02", "1.00E-02/1.91E-01", "1.00E-02/4.42E-03", "1.58E-03/1.58E-03"}},
    {-1, {"1.00E-01/2.51E-01", "1.00E-01/4.37E-01", "1.00E-01/6.65E-02", "3.98E-02/3.98E-02"}},
    {0, {"1.00E+00/1.00E+00", "1.00E+00/1.00E+00", "1.00E+00/1.00E+00", "1.00E+00/1.00E+00"}},
    {1, {"1.00E+01/3.98E+00", "1.00E+01/2.29E+00", "1.00E+01/1.50E+01", "2.51E+01/2.51E+01"}},
    {2, {"1.00E+02/1.58E+01", "1.00E+02/5.23E+00", "1.00E+02/2.26E+02", "6.31E+02/6.31E+02"}},
    {3, {"1.00E+03/6.31E+01", "1.00E+03/1.20E+01", "1.00E+03/3.40E+03", "1.58E+04/1.58E+04"}},
    {4, {"1.00E+04/2.51E+02", "1.00E+04/2.73E+01", "1.00E+04/5.11E+04", "3.98E+05/3.98E+05"}},
    {5, {"1.00E+05/1.00E+03", "1.00E+05/6.25E+01", "1.00E+05/7.69E+05", "1.00E+07/1.00E+07"}},
};

TEST(Tolerance, HoldsTheWholeLadder) {
  for (const Rung& rung : kLadder) {
    for (size_t i = 0; i < kDtypes.size(); ++i) {
      const Tolerance pair = tolerance(kDtypes[i], rung.t);
      EXPECT_EQ(fmt::format("{:.2E}/{:.2E}", pair.atol, pair.rtol), rung.printed[i]) << kDtypes[i] << " t=" << rung.t;
    }
  }
}

TEST(Tolerance, IsExactForEverythingThatIsNotFloating) {
  for (const char* dtype : {"int64", "bool", "uint8", "", "float8_e4m3fn"}) {
    EXPECT_EQ(tolerance(dtype, 0).atol, 0) << dtype;
    EXPECT_EQ(tolerance(dtype, 0).rtol, 0) << dtype;
  }
}

TEST(Tolerance, TakesComplexTypesAsTheirParts) {
  EXPECT_EQ(tolerance("complex64", -5).rtol, tolerance("float32", -5).rtol);
  EXPECT_EQ(tolerance("complex128", -5).rtol, tolerance("float64", -5).rtol);
  EXPECT_EQ(tolerance("complex32", -5).rtol, tolerance("float16", -5).rtol);
}

TEST(Tolerance, KeyIsUpstreams) {
  EXPECT_EQ(tolerance_key(tolerance("float32", -5)), "atol_1.00E-05_rtol_1.30E-06");
  EXPECT_EQ(tolerance_key(tolerance("bfloat16", 5)), "atol_1.00E+05_rtol_6.25E+01");
}

TEST(Tolerance, RefusesRungsOutsideTheLadder) {
  EXPECT_THROW(tolerance("float32", -11), InternalError);
  EXPECT_THROW(tolerance("float32", 6), InternalError);
}

}  // namespace
}  // namespace passnet::record
