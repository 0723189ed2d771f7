// Tensors that another process may look at. Free of torch.
#pragma once

#include <vector>

#include "base/file/file.h"
#include "wire/bundle.h"

namespace passnet::runtime {

struct SharedTensors {
  std::vector<wire::Entry> entries;
  UniqueFd memory;  // none: they lie in a wire::DeviceRoom
};

}  // namespace passnet::runtime
