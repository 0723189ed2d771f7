// What can be known of a plan without sizes: every name, function, method and attribute exists.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

/// Errors: BadPass at the first unknown name, with the nearest known one.
Result<void> check_program(const PlanProgram& program);

/// "torch.float32" for a chain of attributes on a module name; empty for anything else.
std::string dotted_name(const Expr& expr);

/// The names a target assigns.
void collect_targets(const Expr& target, std::set<std::string_view>& names);

/// The Name of `name[grid](…)`, or null when `call` has another form.
const Expr* launched_kernel(const Expr& call);

}  // namespace passnet::pass
