// Memory of a plan. Internal to plan/.
#pragma once

#include <optional>

#include "base/result.h"
#include "pass/plan/library/builtins.h"

namespace passnet::pass {

/// A new buffer of the launch list. fill: nothing leaves the memory as it is. Errors: BadPass: more than a plan may have.
Result<View> allocate(PlanState& state, ir::TensorType type, std::optional<double> fill);

/// Adds a launch. Errors: BadPass: more than a plan may have.
Result<void> add_launch(PlanState& state, Launch launch);

}  // namespace passnet::pass
