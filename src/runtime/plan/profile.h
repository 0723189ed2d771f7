// Where the time of a call goes: each launch of a pass and each operator beside them, and how long this machine needs
// at least to move the bytes of a launch. Internal to runtime/ (includes torch).
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "pass/plan/launch_list.h"
#include "protocol/messages.h"
#include "runtime/plan/fused.h"
#include "runtime/plan/plan.h"

namespace passnet::runtime {

/// Runs the plan `calls` times with a clock around every launch and every other operator: the device's clock on a GPU.
/// The clocks themselves cost some tenths of a microsecond each, so the parts are for comparing with each other.
/// prepare: restores inputs before each call. Errors: those of Plan::run.
Result<protocol::CallProfile> profile_calls(Plan& plan, FusedLibrary& fused, int calls,
                                            const std::function<void()>& prepare);

/// Bytes of the tensors that a launch is given: views of one buffer together count no more than the buffer.
int64_t bytes_of(const pass::LaunchList& list, const pass::Launch& launch);

}  // namespace passnet::runtime
