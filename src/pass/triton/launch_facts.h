// What a launch of a kernel from Triton must know: read from the jail's answer, and kept beside the object.
#pragma once

#include <string>

#include "base/json/json.h"
#include "base/result.h"
#include "pass/kernel/build.h"
#include "pass/kernel/check/ptx_entry.h"
#include "pass/triton/request.h"

namespace passnet::pass {

struct TritonKernel {
  std::string entry;
  TritonLaunch launch;
  bool operator==(const TritonKernel&) const = default;
};

/// facts: of a TritonAnswer; ptx: of its PTX. Nothing of facts is taken that ptx or the GPU contradicts.
/// Errors: BadPass naming what the kernel needs and what the GPU has; BadPass when facts and PTX disagree.
Result<TritonKernel> read_launch_facts(const std::string& facts, const PtxEntry& ptx, const TritonRequest& request);

/// The same as kept in the cache.
std::string to_text(const TritonKernel& kernel);
/// Errors: BadInput when it is no such text, or not of a kernel made for `request`.
Result<TritonKernel> triton_kernel_from_text(const std::string& text, const TritonRequest& request);

}  // namespace passnet::pass
