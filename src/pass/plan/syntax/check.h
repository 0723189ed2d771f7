// What can be known of a plan without running it: every name, function, method and attribute exists.
#pragma once

#include <set>
#include <string_view>

#include "base/result.h"
#include "pass/plan/plan.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

/// Checks what can run: the files' own statements and the functions that they, or one another, name.
/// Errors: BadPass at the first unknown name, with the nearest known one; of `steps`.
Result<void> check_names(const PlanFiles& files, const LoadOptions& options, Budget& steps);

/// The names a target assigns.
void collect_targets(const Expr& target, std::set<std::string_view>& names);

/// The names that statements assign, those in their blocks included.
void collect_assigned(const std::vector<Statement>& body, std::set<std::string_view>& names);

/// The Name of `name[grid](…)`, or null when `call` has another form.
const Expr* launched_kernel(const Expr& call);

}  // namespace passnet::pass
