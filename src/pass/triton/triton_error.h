// What Triton says about a kernel, in words for its author and at the place in Name.py.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "pass/kernel/compiler.h"
#include "pass/triton/request.h"

namespace passnet::pass {

/// facts: the first line of an answer; log: what else was printed while the kernel was compiled; both as the pass's text
/// may have made them. Returns none when the kernel was compiled.
/// Errors: BadPass at the place that is told of, if that is one in the request's modules, else at the kernel; Resource
/// when memory was used up.
std::optional<Error> triton_error(const std::string& facts, const std::string& log, const TritonRequest& request,
                                  const CompileRequest& limits);

/// end: how the process ended that compiled the kernel, as python/passnet_triton tells: "time", "signal 11", "exit 1".
Error triton_end_error(const std::string& end, const std::string& log, const TritonRequest& request,
                       const CompileRequest& limits);

}  // namespace passnet::pass
