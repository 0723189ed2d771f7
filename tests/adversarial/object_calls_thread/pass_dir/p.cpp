#include <passnet/kernel.h>

extern "C" int pthread_create(void*, void*, void* (*)(void*), void*);

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  pthread_create(nullptr, nullptr, nullptr, nullptr);
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
