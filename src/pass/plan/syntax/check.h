// What can be known of a plan without running it: every name, function, method and attribute exists.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pass/plan/plan.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

/// Checks the files' own statements and the functions that they, or one another, name, as far as each evaluation comes to them:
/// the rest is checked when it is evaluated.
/// Errors: BadPass at the first unknown name, with the nearest known one; of `steps`.
Result<void> check_names(const PlanFiles& files, const LoadOptions& options, Budget& steps);

/// Steps of comparing two names.
inline constexpr size_t kStepsToCompare = 500;
/// Suggests what to write instead of an unknown name: the nearest known one, or where to look. Costs kStepsToCompare for each
/// known name.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

/// The names a target assigns.
void collect_targets(const Expr& target, std::set<std::string_view>& names);

/// The Name of `name[grid](…)`, or null when `call` has another form.
const Expr* launched_kernel(const Expr& call);

}  // namespace passnet::pass
