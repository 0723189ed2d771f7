// Copies and casts, which a plan gets as launches of a kernel of ours. Internal to plan/.
#pragma once

#include "base/result.h"
#include "pass/plan/library/builtins.h"

namespace passnet::pass {

/// Adds a launch that gives `to` the elements of `from`, converted as PyTorch does. Both have one shape. Errors: BadPass:
/// strides that need more than eight loops.
Result<void> launch_copy(PlanState& state, const View& from, const View& to);

/// x.contiguous(): x itself when it is.
Result<Value> make_contiguous(PlanState& state, const View& view);
/// x.to(dtype), x.clone(): x itself when nothing changes and no copy is asked for.
Result<Value> convert(PlanState& state, const View& view, ir::DType dtype, bool always_copy);
/// to.copy_(from). Errors: BadPass when `to` is an input of the pass, or the shapes do not fit.
Result<Value> copy_into(PlanState& state, const View& to, const View& from);

}  // namespace passnet::pass
