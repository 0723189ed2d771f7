#include "runtime/cpu/cell/operator_threads.h"

#include <dlfcn.h>

namespace passnet::runtime {

void end_operator_threads() {
  // Of the OpenMP that PyTorch brought, whatever its file is called.
  constexpr int kSoftPause = 1;  // omp_pause_soft, OpenMP 5.0
  using Pause = int (*)(int);
  static const auto pause_all = reinterpret_cast<Pause>(::dlsym(RTLD_DEFAULT, "omp_pause_resource_all"));
  if (pause_all != nullptr) (void)pause_all(kSoftPause);
}

}  // namespace passnet::runtime
