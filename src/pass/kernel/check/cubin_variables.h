// The variables that a kernel compiled for a GPU has in global memory: they keep what is written to them from one launch
// to the next.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::pass {

struct CubinVariable {
  std::string name;
  std::string section;  // ".nv.global", ".nv.global.init"
  size_t size = 0;      // bytes
  std::string bytes;    // that it begins with; empty: zeros
};

/// cubin: the bytes of the compiled unit. Errors: Io when they are no cubin.
Result<std::vector<CubinVariable>> read_cubin_variables(std::string_view cubin);

}  // namespace passnet::pass
