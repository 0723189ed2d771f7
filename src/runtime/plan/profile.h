// Where the time of a call goes: each launch of a pass and each operator beside them, and how long this machine needs
// at least to move the bytes of a launch. Internal to runtime/ (includes torch).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"
#include "runtime/plan/fused.h"
#include "runtime/plan/plan.h"

namespace passnet::runtime {

struct LaunchTime {
  size_t list = 0, launch = 0;  // launch of which launch list
  double us = 0;                // median over the calls
  int64_t bytes = 0;            // of the tensors it was given, each once
  double bound_us = 0;  // what a copy of as many bytes (half read, half written) takes here, with the same threads
};
struct NodeTime {
  std::string node;
  double us = 0;
};
struct CallProfile {
  double call_us = 0;  // median of the whole call, profiled
  std::vector<LaunchTime> launches;
  std::vector<NodeTime> others;  // operators outside the passes; on the CPU only
};

/// Runs the plan `calls` times with a clock around every launch and every other operator: the device's clock on a GPU.
/// The clocks themselves cost some tenths of a microsecond each, so the parts are for comparing with each other.
/// prepare: restores inputs before each call. Errors: those of Plan::run.
Result<CallProfile> profile_calls(Plan& plan, FusedLibrary& fused, int calls, const std::function<void()>& prepare);

/// Bytes of the tensors that a launch is given: views of one buffer together count no more than the buffer.
int64_t bytes_of(const pass::LaunchList& list, const pass::Launch& launch);

}  // namespace passnet::runtime
