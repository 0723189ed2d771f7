// Decides which values of a part of a graph are stored, and which kernels store them together.
#pragma once

#include <vector>

#include "author/fuse/kernel.h"
#include "base/result.h"

namespace passnet::author {

/// One step of a plan: it launches a kernel, or calls PyTorch.
struct FusedStep {
  std::optional<FusedKernel> kernel;
  TensorId call = 0;  // what the call makes
};

/// Steps in an order in which each finds what it takes. outputs: tensors that must be in memory at the end; where they lie is
/// set as PyTorch would have it. once: values that many elements of another one are made of are stored where they take long, not
/// computed for each. Errors: Unsupported: a result, or what a call takes, has a layout that no kernel writes.
Result<std::vector<FusedStep>> fuse(Definitions& definitions, const std::vector<TensorId>& outputs, bool once);

}  // namespace passnet::author
