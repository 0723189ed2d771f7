// total = residual + roll(image of the windows, (down, right)); normed = layer_norm(total); pixels are rows of N.
#include <passnet/kernel.h>

using namespace passnet;

// The row of `windows` that holds a pixel of one image: windows lie one after the other, each line by line.
[[gnu::always_inline]] inline int64_t row_in_windows(int64_t y, int64_t x) {
  const int64_t window = y / TALL * (WIDTH / WIDE) + x / WIDE;
  return (window * TALL + y % TALL) * WIDE + x % WIDE;
}

PASSNET_KERNEL window_merge_norm_kernel(const T* windows, const T* residual, const T* weight, const T* bias, T* normed,
                                        T* total, int64_t lines, int64_t down, int64_t right, float eps) {
  const auto [first, last] = chunk(lines, 1);
  for (int64_t line = first; line < last; ++line) {
    const int64_t image = line / HEIGHT, y = line % HEIGHT;
    const int64_t from_y = y >= down ? y - down : y - down + HEIGHT;
    for (int64_t x = 0; x < WIDTH; ++x) {
      const int64_t from_x = x >= right ? x - right : x - right + WIDTH;
      const T* const window = windows + (image * HEIGHT * WIDTH + row_in_windows(from_y, from_x)) * N;
      const int64_t at = (line * WIDTH + x) * N;
      float values[N];
      for_blocks(0, N, [&](int64_t i, int lanes) {
        store(total + at + i, load(residual + at + i, lanes) + load(window + i, lanes), lanes);
        // Read back what was stored: PyTorch normalises the sum as rounded to T.
        store(values + i, load(total + at + i, lanes), lanes);
      });
      const auto [mean, variance] = moments(values, N);
      const float scale = rsqrt(variance + eps);
      for_blocks(0, N, [&](int64_t i, int lanes) {
        const vec standard = (load(values + i, lanes) - mean) * scale;
        store(normed + at + i, fma(standard, load(weight + i, lanes), load(bias + i, lanes)), lanes);
      });
    }
  }
}
