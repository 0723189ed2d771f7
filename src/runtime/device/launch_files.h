// Launch lists and their compiled kernels, from JSON. Free of torch.
#pragma once

#include <vector>

#include "base/json/json.h"
#include "pass/plan/kernel_file.h"
#include "pass/plan/launch_list.h"

namespace passnet::runtime {

/// The launches of a graph's passes. Entry i belongs to the call of `passnet.fused` with launch list i.
struct LaunchFiles {
  std::vector<pass::LaunchList> lists;
  std::vector<std::vector<pass::KernelFile>> kernels;  // per list, one per launch; empty: can be traced, not run
};

/// Reads launch lists and, for each, its kernels. Schema: docs/protocol.md, `load`. Errors: BadInput naming the place.
Result<LaunchFiles> launch_files_from_json(const Json& lists, const Json& kernels);

}  // namespace passnet::runtime
