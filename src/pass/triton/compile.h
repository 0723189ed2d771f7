// Triton itself, run in the compile jail: requests to PTX.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/kernel/compiler.h"
#include "pass/triton/request.h"
#include "pass/triton/toolchain.h"

namespace passnet::pass {

/// What came out of the jail for one request. The pass's own text runs there while it is compiled: none of this is to be
/// believed.
struct TritonAnswer {
  std::string facts;  // JSON, see python/passnet_triton/answer.py
  std::string ptx;
};

struct TritonTask {
  const TritonRequest* request = nullptr;
  const TritonToolchain* toolchain = nullptr;
};

struct TritonLimits {
  int timeout_s = 60;             // of one kernel, by the clock and in processor time
  int64_t memory_bytes = 0;       // of one kernel
  size_t jobs = 1;                // kernels at a time
  std::filesystem::path scratch;  // where a directory is made for the run
  const std::atomic<bool>* interrupted = nullptr;
};

/// One process imports Triton and forks for each kernel; a kernel that crashes, hangs or eats memory is alone in that.
/// tasks: of one Python and Triton. Returns an answer or an error for each.
/// Errors: BadPass at Name.py:line:col with Triton's words; Resource when time or memory is used up, or Python or Triton
/// do not run here.
std::vector<Result<TritonAnswer>> compile_to_ptx(std::span<const TritonTask> tasks, const TritonLimits& limits);

/// What limits the compilation of one kernel, in the form in which messages of all compilers are made of it.
CompileRequest limits_of(const TritonRequest& request, const TritonLimits& limits);

}  // namespace passnet::pass
