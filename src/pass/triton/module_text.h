// What of a pass file Triton needs to see: imports, constants and `@triton.jit` functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pass/plan/plan.h"
#include "pass/plan/syntax.h"
#include "pass/triton/request.h"

namespace passnet::pass {

/// The file's text with all else blanked out by spaces, so that lines and columns hold. Constants that need a function of the
/// file are left out: a kernel that uses one does not compile.
std::string triton_text(const PlanProgram& file);

/// The files of a pass, each under the names that imports of it may say; the one called `first` stands first.
std::vector<std::shared_ptr<const TritonModule>> triton_modules(const PlanFiles& files, const PlanProgram& first);

}  // namespace passnet::pass
