// Which values of a part of a graph are stored, and which kernels store them together.
#pragma once

#include <vector>

#include "author/fuse/kernel.h"
#include "base/result.h"

namespace passnet::author {

/// Kernels in an order in which each finds what it loads. outputs: tensors that must be stored; where they lie is set as
/// PyTorch would have it.
/// Errors: Unsupported: a result has a layout that no kernel writes.
Result<std::vector<FusedKernel>> fuse(Definitions& definitions, const std::vector<TensorId>& outputs);

}  // namespace passnet::author
