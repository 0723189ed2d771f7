// A kernel as C++: for the CPU, 16 lanes at a time where what it computes allows it, or for CUDA.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "author/fuse/kernel.h"

namespace passnet::author {

/// CUDA: threads that share a row, at most.
inline constexpr int64_t kMostThreads = 512;

/// CUDA: how neighbouring elements are moved together, PACK of them by a thread, a number that the plan chooses: all that
/// follows must be multiples of it.
struct Packing {
  std::vector<SizeId> steps;      // from one run of neighbours to the next
  std::vector<TensorId> tensors;  // that are moved so: where they begin
};

/// What a kernel is given, in the order of its parameters.
struct KernelFacts {
  std::vector<TensorId> loaded, stored;
  std::vector<std::pair<std::string, Compute>> parameters;  // constants that are inputs of the pattern
  SizeId items = 0, row = 0;                                // how many, and elements of each
  std::optional<Packing> packing;                           // CUDA: none: an element at a time
};
KernelFacts facts_of(Definitions& definitions, const FusedKernel& kernel);

enum class Target : uint8_t { Cpu, Cuda };

/// The whole function, with its signature. comment: what it computes.
std::string kernel_text(Definitions& definitions, const FusedKernel& kernel, const KernelFacts& facts,
                        const std::string& name, const std::string& comment, Target target);

}  // namespace passnet::author
