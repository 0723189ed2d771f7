#include <passnet/kernel.h>
using namespace passnet;
PASSNET_KERNEL add_relu_kernel(const T* x, const T* y, T* out, int64_t n) {
  const int64_t i = global_index();
  if (i < n) out[i] = from_float<T>(relu(to_float(x[i]) + to_float(y[i])));
}
