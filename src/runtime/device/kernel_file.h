// Compiled kernels of launch lists, and both as JSON. Free of torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "pass/plan/launch_list.h"

namespace passnet::runtime {

/// A compiled kernel: the shared object and "passnet_run_NAME" in it, or the cubin and the kernel's name.
struct KernelFile {
  std::string object;  // path
  std::string entry;
  std::vector<std::string> parameters;  // their types, "const float*", "int64_t"
  std::string sha256 = {};              // of the object, in hexadecimal; empty: not known
  int64_t shared_bytes = 0;             // dynamic shared memory of a block, on a GPU
  int64_t cluster = 1;                  // blocks of a cluster, along the first axis of the grid
};

/// The launches of a graph's passes. Entry i belongs to the call of `passnet.fused` with launch list i.
struct LaunchFiles {
  std::vector<pass::LaunchList> lists;
  std::vector<std::vector<KernelFile>> kernels;  // per list, one per launch; empty: can be traced, not run
};

/// Reads launch lists and, for each, its kernels. Schema: docs/protocol.md, `load`. Errors: BadInput naming the place.
Result<LaunchFiles> launch_files_from_json(const Json& lists, const Json& kernels);

}  // namespace passnet::runtime
