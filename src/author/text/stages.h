// The loops over a row, one after the other, where lanes or threads share it: each reduction has one, and what is stored has
// the last, unless the first has at hand what it needs.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "author/text/kernel_part.h"

namespace passnet::author {

/// The work of a loop over a row.
struct Stage {
  std::optional<ExprId> reduction;  // none: it stores only
  std::vector<ExprId> elements;     // what it computes of each element
  std::vector<const Store*> stores;
};
/// kept: what the loop that computes it first keeps for later ones.
std::vector<Stage> stages_of(Definitions& definitions, const KernelPart& part, const std::set<ExprId>& kept = {});

/// Returns values that several stages compute of each element from more than one load, as large as they are the same:
/// they are better kept. loads: so are loads that several have.
std::set<ExprId> worth_keeping(Definitions& definitions, const FusedKernel& kernel, const std::vector<Stage>& stages,
                               bool loads);

}  // namespace passnet::author
