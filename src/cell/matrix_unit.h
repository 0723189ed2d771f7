// Leave to use the processor's matrix unit (AMX of x86-64), which Linux gives to a process that asks for it.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace passnet::cell {

/// Asks for it, for all threads of this process. Returns: whether they may use it.
inline bool take_matrix_unit() {
  constexpr int kRequestState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}

}  // namespace passnet::cell
