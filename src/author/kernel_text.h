// A kernel as C++: for the CPU, 16 lanes at a time where what it computes allows it, or for CUDA.
#pragma once

#include <string>
#include <vector>

#include "author/text/facts.h"

namespace passnet::author {

/// The whole function, with its signature. comment: the lines above it.
std::string kernel_text(Definitions& definitions, const FusedKernel& kernel, const KernelFacts& facts,
                        const std::string& name, const std::vector<std::string>& comment, Target target);
/// One of the kernels that it was split into, which has a constant PARTS: that share a row. On a GPU a block has a part
/// of a row, or a thread one of a column.
std::string kernel_text(Definitions& definitions, const FusedKernel& kernel, const SplitRow& split, size_t at,
                        const KernelFacts& facts, const std::string& name, const std::vector<std::string>& comment,
                        Target target);

}  // namespace passnet::author
