// The device that graphs run on in this process. Internal to runtime/ (includes torch).
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace passnet::runtime {

/// The CPU until gpu::start has succeeded.
c10::Device graph_device();
void set_graph_device(c10::Device device);

/// torch.manual_seed: the default generators of the CPU and of the graph's device.
void seed_generators(uint64_t seed);

}  // namespace passnet::runtime
