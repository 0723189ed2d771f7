// erf of 16 floats from tables that stay in registers: half of what polynomials and exp take, where only the absolute error counts.
#pragma once

#include <passnet/vec.h>

#ifdef PASSNET_AVX512_
namespace passnet {
namespace detail {

/// erf((k + r) / 8), |r| <= 1/2, by powers of r: a row for each power, an element for each k. Interpolated where Chebyshev's
/// polynomials are 0: off by 3e-8 at most. The last piece is 1.
inline constexpr float kErfPieces[5][32] = {
    {0.0f,         0.140316203f, 0.276326388f, 0.404116899f, 0.520499885f, 0.623240888f, 0.711155653f, 0.784075081f,
     0.842700779f, 0.888388216f, 0.92290014f,  0.948170066f, 0.966105163f, 0.978443742f, 0.986671686f, 0.99199003f,
     0.995322287f, 0.997345984f, 0.998537302f, 0.999217033f, 0.999593019f, 0.999794602f, 0.999899387f, 0.999952137f,
     0.999977887f, 0.999990106f, 0.999995708f, 0.999998212f, 0.999999285f, 0.999999702f, 0.999999881f, 1.0f},
    {0.141047388f,    0.138860598f,    0.132501721f,    0.122544073f,
     0.109847821f,    0.0954374596f,   0.0803664178f,   0.0655931681f,
     0.0518884771f,   0.0397842824f,   0.0295651685f,   0.0212949906f,
     0.0148662953f,   0.0100590335f,   0.00659687072f,  0.00419322168f,
     0.00258336542f,  0.0015425951f,   0.000892783515f, 0.000500804745f,
     0.000272281875f, 0.00014348187f,  7.32830085e-05f, 3.62775136e-05f,
     1.74060242e-05f, 8.09449102e-06f, 3.64844072e-06f, 1.59386968e-06f,
     6.74879232e-07f, 2.76966347e-07f, 1.10168024e-07f, 0.0f},
    {1.07341911e-07f,  -0.00216969615f,  -0.0041406774f,   -0.00574425096f,
     -0.00686548511f,  -0.00745604699f,  -0.00753434654f,  -0.00717424788f,
     -0.00648605498f,  -0.00559466053f,  -0.00461955462f,  -0.0036600749f,
     -0.00278743007f,  -0.0020432421f,   -0.00144306698f,  -0.000982788275f,
     -0.000645843334f, -0.000409753673f, -0.000251096935f, -0.00014867766f,
     -8.5089021e-05f,  -4.70806481e-05f, -2.51914771e-05f, -1.30375138e-05f,
     -6.52743165e-06f, -3.16201135e-06f, -1.48223558e-06f, -6.72444173e-07f,
     -2.95275356e-07f, -1.25508166e-07f, -5.16449781e-08f, 0.0f},
    {-0.00073569559f,  -0.000699638913f, -0.000603086373f, -0.000458309078f,
     -0.000285991991f, -0.00010899498f,  5.18147899e-05f,  0.000180851086f,
     0.00026959306f,   0.000316705235f,  0.000326768524f,  0.000308180141f,
     0.000270858058f,  0.000224277494f,  0.0001761514f,    0.00013183002f,
     9.43101841e-05f,  6.46452754e-05f,  4.25323851e-05f,  2.68971544e-05f,
     1.63671284e-05f,  9.591864e-06f,    5.41768986e-06f,  2.95099926e-06f,
     1.5509213e-06f,   7.86800911e-07f,  3.8543979e-07f,   1.82391759e-07f,
     8.33937079e-08f,  3.68509134e-08f,  1.57414579e-08f,  0.0f},
    {3.43834017e-06f,  1.67472026e-05f,  3.09529132e-05f,  4.06100917e-05f,
     4.46375852e-05f,  4.30317632e-05f,  3.67567882e-05f,  2.74281992e-05f,
     1.68962433e-05f,  6.84791166e-06f,  -1.47839421e-06f, -7.42003976e-06f,
     -1.08653658e-05f, -1.21212133e-05f, -1.17330155e-05f, -1.0312453e-05f,
     -8.40886332e-06f, -6.43791418e-06f, -4.66248684e-06f, -3.21006041e-06f,
     -2.10840676e-06f, -1.32452737e-06f, -7.97413975e-07f, -4.60773776e-07f,
     -2.55860385e-07f, -1.36666173e-07f, -7.02777143e-08f, -3.48153861e-08f,
     -1.66254992e-08f, -7.65672947e-09f, -3.4022265e-09f,  0.0f}};

/// erf(|x|) of x = eighths / 8, off by 1e-7 at most; of NaN any number.
[[gnu::always_inline]] inline floats erf_by_pieces(floats eighths) {
  constexpr float kRounder = 8388608;  // 2^23: floats above it are whole
  const floats size = (floats)((ints)eighths & 0x7fffffff);
  const floats bounded = size < 31.0f ? size : floats{} + 31.0f;
  const floats rounder = floats{} + kRounder, piece = bounded + rounder, r = bounded - (piece - rounder);
  const auto coefficient = [piece](const float* row) __attribute__((always_inline)) {
    using Row = Block<float>::type;
    return __builtin_ia32_vpermt2varps512_mask((ints)piece, *reinterpret_cast<const Row*>(row),
                                               *reinterpret_cast<const Row*>(row + kWidth), -1);
  };
  floats sum = coefficient(kErfPieces[4]);
  for (int power = 3; power >= 0; --power) sum = sum * r + coefficient(kErfPieces[power]);
  return sum;
}

}  // namespace detail
}  // namespace passnet
#endif
