// Patterns that a file does not write as `def pattern(…)`, but builds node by node with torch.fx.Graph. Models do that for
// operators that tracing does not keep, such as `x += y`.
#pragma once

#include <string>

#include "base/result.h"
#include "pass/plan/plan.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

/// Sets `builds_graph` of the statements of a file that make such graphs. What they give is no value of a plan.
void note_built_graphs(PlanProgram& program);

struct BuiltPattern {
  const PlanProgram* in = nullptr;  // where it is built
  std::string text;  // `def pattern(…)` in the graph language, each statement on the line that builds it
};

/// Returns: the pattern of a pass that builds it, in its own file or in one that it imports; `in` is null: it builds none.
/// Errors:  BadPass: a node that the graph language has no words for.
Result<BuiltPattern> find_built_pattern(const PlanFiles& files);

}  // namespace passnet::pass
