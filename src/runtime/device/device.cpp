#include "runtime/device/device.h"

#include <chrono>

#include "runtime/device/counter.h"

namespace passnet::runtime {

namespace {

int64_t now_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(now().time_since_epoch()).count(); }

}  // namespace

Result<std::unique_ptr<RecordedCall>> Device::record(const RecordedCall::Run&, const std::vector<at::Tensor>&) {
  return unsupported("calls are recorded on a GPU alone");
}

Result<SharedBytes> Device::allocate_shared(int64_t) { return unsupported("the CPU has no memory of its own"); }
Result<at::Tensor> Device::open_shared(int, int64_t) { return unsupported("the CPU has no memory of its own"); }

void HostClock::start() { start_ns_ = now_ns(); }

std::optional<double> HostClock::stop() {
  device_.synchronize();
  return static_cast<double>(now_ns() - start_ns_) / 1000;
}

}  // namespace passnet::runtime
