// One part of a graph as a pass.
#pragma once

#include <string>
#include <vector>

#include "author/write.h"

namespace passnet::author {

/// calls: how its calls of PyTorch are made; once: as WriteOptions has it; refused: by node id, why an operator is in no pass. The
/// graph's pool of arguments may grow. Errors: Unsupported, with why.
Result<Written> write_part(Subject& subject, const GraphPart& part, const ProductOptions& calls, bool once,
                           const std::vector<std::string>& refused, const Schedule& schedule, const std::string& name);

}  // namespace passnet::author
