// From a launch of a `@triton.jit` function in a launch list to what is compiled for it, and back to a launch that a
// driver can make.
#pragma once

#include <string>

#include "base/result.h"
#include "pass/kernel/build.h"
#include "pass/plan/launch_list.h"
#include "pass/plan/plan.h"
#include "pass/triton/request.h"

namespace passnet::pass {

/// What is compiled for one of the ways to make a launch. Tensors that the pass gets are taken to begin at addresses that
/// 16 divides, as those that it allocates do: whoever launches the kernel must see to it.
/// files: of the pass. Errors: BadPass at the launch: an argument that Triton does not take, an option out of range.
Result<TritonRequest> triton_request(const PlanFiles& files, const Launch& launch, const LaunchChoice& choice,
                                     const std::string& architecture);

/// The launch as the compiled kernel takes it: the arguments that were not folded into its code, then its scratch memory,
/// which is allocated in `list`. request: that `kernel` was built from.
Launch compiled_launch(LaunchList& list, const Launch& launch, const LaunchChoice& choice, const TritonRequest& request,
                       const BuiltKernel& kernel);

}  // namespace passnet::pass
