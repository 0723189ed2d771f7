// What PTX says of its kernel: name, parameters and block.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::pass {

struct PtxEntry {
  std::string name;
  std::vector<int64_t> parameters;  // bytes of each
  int64_t threads = 0;              // that a block must have; 0: it does not say
  std::string target;               // "sm_90a"
};

/// Errors: BadPass when there is not exactly one kernel, or its header is of another form than compilers write.
Result<PtxEntry> read_ptx_entry(std::string_view ptx);

}  // namespace passnet::pass
