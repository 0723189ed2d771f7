#include <passnet/kernel.h>

extern __device__ const passnet::detail::ParameterText passnet_parameters_k;

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  if (i < n) out[i] = x[i] > 0 ? x[i] : 0;
  if (i == 0) ++const_cast<char*>(passnet_parameters_k.text)[1000];
}
