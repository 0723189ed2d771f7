// Pictures so small that lanes are channels: a plane of each, turned, so that all channels of a place lie side by side.
#pragma once

#include <passnet/vec.h>

namespace passnet {

/// Turns `lanes` (1 … 16) planes of n neighbours, each `step` behind the one before: element i of plane p, x[p * step + i], becomes
/// out[i * lanes + p], a float.
template <class T>
inline void turn_planes(const T* x, int64_t step, int64_t n, int lanes, float* out) {
  for (int64_t i = 0; i < n; i += kLanes)
    turn_rows(x + i, step, lanes, n - i < kLanes ? n - i : kLanes, out + i * lanes);
}

/// Turns them back, and stores them.
template <class T>
inline void store_planes(T* out, int64_t step, int64_t n, int lanes, const float* x) {
  detail::turn_to([=](int64_t i) { return x + i * lanes; }, n, lanes, step, out);
}

/// The part of such planes, of rows x columns elements, that begins at (top, left), which is x, and has height x width places, turned:
/// `otherwise` where these lie beside a plane. planes: room for the planes.
template <class T>
inline void pad_planes(const T* x, int64_t step, int64_t rows, int64_t columns, int64_t top, int64_t left,
                       int64_t height, int64_t width, float otherwise, int lanes, float* planes, float* out) {
  turn_planes(x - top * columns - left, step, rows * columns, lanes, planes);
  for_blocks(
      0,
      height * width * lanes, [&](int64_t i, int n) __attribute__((always_inline)) { store(out + i, otherwise, n); });
  const int64_t first = left < 0 ? -left : 0, last = columns - left < width ? columns - left : width;
  for (int64_t row = top < 0 ? -top : 0; row < height && row + top < rows && first < last; ++row)
    to_floats(planes + ((row + top) * columns + first + left) * lanes, (last - first) * lanes,
              out + (row * width + first) * lanes);
}

}  // namespace passnet
