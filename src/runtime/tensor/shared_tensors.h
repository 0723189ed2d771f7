// Tensors in shared memory. Free of torch.
#pragma once

#include <vector>

#include "base/file.h"
#include "wire/bundle.h"

namespace passnet::runtime {

struct SharedTensors {
  std::vector<wire::Entry> entries;
  UniqueFd memory;
};

}  // namespace passnet::runtime
