// A kernel of a pass: named, written for both targets, and in numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "author/fuse/kernel.h"
#include "author/text/plan/python_text.h"
#include "author/text/plan/schedule.h"
#include "author/text/plan/shape.h"

namespace passnet::author {

struct WrittenKernel {
  NamedKernel named;  // with those that it is split into, if any of the graphs has rows so few and long
  KernelShape shape;
};
/// examples: how many graphs the pass is written for.
WrittenKernel write_kernel(Definitions& definitions, const FusedKernel& kernel, const Schedule& schedule,
                           const std::string& name, size_t examples);

/// Return the bytes of a tensor in that graph, and of all that a kernel reads and writes.
int64_t bytes_of(Definitions& definitions, TensorId id, size_t example);
int64_t bytes_of(Definitions& definitions, const KernelFacts& facts, size_t example);

}  // namespace passnet::author
