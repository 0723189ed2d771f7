// A definition and a solution as a pass: the reference is its pattern, the solution's Python its plan.
#pragma once

#include <string>

#include "base/result.h"
#include "exchange/definition.h"
#include "exchange/solution.h"
#include "pass/template.h"

namespace passnet::exchange {

/// Returns: the texts of a pass `name`. Its plan declines other dtypes and shapes than the definition's, and tensors that are
///          not contiguous.
/// Errors:  BadInput: an entry point that is not there or takes other arguments; Unsupported: an entry point in C++,
///          sources that no pass has, a scalar output, an output whose size no input has, a name that a pass needs;
///          BadPass as pass::parse_pass_file, at the place in the source.
Result<pass::PassTexts> texts_of(const Definition& definition, const Solution& solution, const std::string& name);

}  // namespace passnet::exchange
