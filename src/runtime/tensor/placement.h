// The device that graphs run on in this process. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace passnet::runtime {

/// The CPU until start_gpu (gpu/gpu_device.h) has succeeded.
c10::Device graph_device();
void set_graph_device(c10::Device device);

/// The first of the tensors among `values` that does not lie on `device`.
std::optional<size_t> first_elsewhere(const std::vector<c10::IValue>& values, c10::Device device);

/// Seed before every call of a graph, so that random operators agree between workers.
inline constexpr uint64_t kCallSeed = 1024;
/// torch.manual_seed: the default generators of the CPU and of the graph's device.
void seed_generators(uint64_t seed = kCallSeed);

}  // namespace passnet::runtime
