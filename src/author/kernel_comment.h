// The comment above a kernel: what it computes, what of that is never stored, and who does it.
#pragma once

#include <string>
#include <vector>

#include "author/text/plan/named_kernel.h"

namespace passnet::author {

/// Returns the values that are computed on the way to these results and neither loaded nor stored.
std::vector<TensorId> passed_through(const Definitions& definitions, const KernelFacts& facts);

/// Its lines, without the slashes. computes: "tmp_3", "parts of tmp_2". lanes: as that target has them.
std::vector<std::string> kernel_comment(const Definitions& definitions, const NamedKernel& kernel,
                                        const std::string& computes, Lanes lanes, Target target);

}  // namespace passnet::author
