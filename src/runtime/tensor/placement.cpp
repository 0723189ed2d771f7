#include "runtime/tensor/placement.h"

#include <ATen/Context.h>

#include <utility>

#include "runtime/tensor/thread_device.h"

namespace passnet::runtime {

namespace {
c10::Device current(c10::DeviceType::CPU);
thread_local std::optional<c10::Device> of_thread;
}  // namespace

c10::Device graph_device() { return of_thread ? *of_thread : current; }
void set_graph_device(c10::Device device) { current = device; }
std::optional<c10::Device> exchange_thread_device(std::optional<c10::Device> device) {
  return std::exchange(of_thread, device);
}

std::optional<size_t> first_elsewhere(const std::vector<c10::IValue>& values, c10::Device device) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].isTensor() && values[i].toTensor().defined() && values[i].toTensor().device() != device) return i;
  }
  return std::nullopt;
}

void seed_generators(uint64_t seed) {
  at::Generator host = at::globalContext().defaultGenerator(at::kCPU);
  host.set_current_seed(seed);
  if (current.is_cpu()) return;
  at::Generator own = at::globalContext().defaultGenerator(current);
  own.set_current_seed(seed);
}

}  // namespace passnet::runtime
