// A launch of a CPU kernel with its scalar arguments filled in. Free of torch.
#pragma once

#include <passnet/abi.h>

#include <cstdint>
#include <vector>

#include "pass/plan/launch_list.h"

namespace passnet::runtime {

/// A launch over less memory than this is run by one thread: sharing it costs more than it saves.
inline constexpr int64_t kAloneBytes = 32 << 10;

/// Pointers are patched when the buffers are known.
struct ReadyLaunch {
  struct Pointer {
    uint32_t arg, buffer;
    int64_t offset_bytes;
  };
  std::vector<passnet_arg> args;
  std::vector<Pointer> pointers;
  int64_t grid[3] = {1, 1, 1};
  int64_t tasks = 1;  // of the whole grid
  int64_t bytes = 0;  // memory its views span
};

ReadyLaunch make_ready(const pass::Launch& launch);

}  // namespace passnet::runtime
