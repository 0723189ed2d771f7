// What is told of a device beside times. Free of torch.
#pragma once

#include <optional>

namespace passnet::runtime {

/// What can be read of a device's state: the clock of its processors and its temperature.
struct DeviceCondition {
  std::optional<int> sm_mhz, temperature_c;
};

}  // namespace passnet::runtime
