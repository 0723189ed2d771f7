// Reads a pass file (Name.py): bodies of `@triton.jit` functions and of `pattern` are left to others, everything else is
// parsed as the plan language.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

inline constexpr size_t kMaxPassBytes = size_t{1} << 20;

/// file: for messages; its stem is the name that imports say. Errors: BadPass at file:line:col for anything outside the
/// language.
Result<std::shared_ptr<const PlanProgram>> parse_pass_file(std::string file, std::shared_ptr<const std::string> text);

}  // namespace passnet::pass
