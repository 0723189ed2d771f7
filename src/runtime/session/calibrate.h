// How fast this machine moves memory and multiplies, as the threads or the device that run graphs see it. Free of torch.
#pragma once

#include <vector>

#include "record/floor.h"

namespace passnet::runtime {

/// Copies at sizes from what lies in the first cache to what lies in memory, the best of several each; well under a
/// second. REQUIRES start_runtime().
std::vector<record::CopySpeed> measure_copies();

/// Products of square matrices of the sizes that pay, by PyTorch, the best of several each; well under a second. A type
/// that PyTorch cannot multiply is left out. REQUIRES start_runtime().
std::vector<record::ProductSpeed> measure_products();

}  // namespace passnet::runtime
