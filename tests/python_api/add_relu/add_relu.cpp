#include <passnet/kernel.h>
PASSNET_KERNEL add_relu_kernel(const T* x, const T* y, T* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  passnet::for_blocks(first, last, [&](int64_t i, int lanes) {
    passnet::store(out + i, passnet::relu(passnet::load(x + i, lanes) + passnet::load(y + i, lanes)), lanes);
  });
}
