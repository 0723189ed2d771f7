// total = residual + roll(image of the windows, (down, right)); normed = layer_norm(total). A pixel is a row of N, on
// THREADS threads.
#include <passnet/kernel.h>

using namespace passnet;

// The row of `windows` that holds a pixel of one image: windows lie one after the other, each line by line.
PASSNET_INLINE int row_in_windows(int y, int x) {
  const int window = y / int(TALL) * int(WIDTH / WIDE) + x / int(WIDE);
  return (window * int(TALL) + y % int(TALL)) * int(WIDE) + x % int(WIDE);
}

PASSNET_KERNEL window_merge_norm_kernel(const T* windows, const T* residual, const T* weight, const T* bias, T* normed,
                                        T* total, int64_t rows, float eps) {
  using Row = passnet::Row<T, N, THREADS>;
  const int64_t row = Row::index(), at = row * N;
  if (row >= rows) return;
  // Reads that need no index arithmetic go first.
  const Row left = Row::load(residual + at), gain = Row::load(weight), shift = Row::load(bias);
  const Divided<WIDTH> line(row);
  const Divided<HEIGHT> image(line.quotient);
  const int y = int(image.remainder + HEIGHT - DOWN) % int(HEIGHT);
  const int column = int(line.remainder + WIDTH - RIGHT) % int(WIDTH);
  const Row right = Row::load(windows + (image.quotient * HEIGHT * WIDTH + row_in_windows(y, column)) * N);
  // PyTorch normalises the sum as rounded to T.
  const Row values = map([](float a, float b) { return rounded<T>(a + b); }, left, right);
  values.store(total + at);
  layer_norm(values, gain, shift, eps).store(normed + at);
}
