// The state of a device, told beside times. Free of torch.
#pragma once

#include <optional>

namespace passnet::runtime {

/// The clock of a device's processors and its temperature, where they can be read.
struct DeviceCondition {
  std::optional<int> sm_mhz, temperature_c;
};

}  // namespace passnet::runtime
