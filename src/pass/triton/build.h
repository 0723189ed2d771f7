// @triton.jit functions -> cubins and what their launches must know, compiled in the jail and cached by content.
//
// The pass's Python runs while Triton compiles it, in a process that can do nothing but compute and write an answer
// (python/passnet_triton). Of that answer only PTX and a few numbers are taken; both are checked here, and ptxas, in a
// jail of its own, makes the cubin of the PTX that was checked. So the worst that a text can do is to have other PTX
// compiled that does no more than compute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/kernel/build.h"
#include "pass/triton/request.h"

namespace passnet::pass {

struct TritonOptions {
  std::filesystem::path cache_dir = {};     // default passnet_home()/kernels
  size_t jobs = 0;                          // kernels compiled at a time; 0: as many as there are processors
  int timeout_s = 60;                       // of one kernel; a few of honest authors take 30 s
  int64_t memory_bytes = int64_t{4} << 30;  // of one kernel
  const std::atomic<bool>* interrupted = nullptr;
};

/// All kernels of a graph. One in the cache is taken when its seal (object_seal.h) holds and it passes the checks of a new
/// one; what is left is compiled by one process, the same request once.
/// Returns: a kernel or an error for each request. Errors: BadPass at the place that Triton names, with its own message,
/// cut to what matters; BadPass when the PTX does more than compute, when the kernel keeps state between launches or
/// needs more than the GPU has; Resource when Triton, its Python or ptxas is missing, or time or memory is used up.
std::vector<Result<BuiltKernel>> build_triton_kernels(std::span<const TritonRequest> requests,
                                                      const TritonOptions& options = {});

/// What decides a kernel besides its text, in one line that a person can read: Triton, ptxas and a hash of all that they
/// are. Errors: Resource, as above.
Result<std::string> describe_triton(const std::string& architecture);

}  // namespace passnet::pass
