#include "runtime/device/device.h"

#include "runtime/device/counter.h"

namespace passnet::runtime {

Result<std::unique_ptr<RecordedCall>> Device::record(const RecordedCall::Run&, const std::vector<at::Tensor>&) {
  return unsupported("calls are recorded on a GPU alone");
}

Result<SharedBytes> Device::allocate_shared(int64_t) { return unsupported("the CPU has no memory of its own"); }
Result<at::Tensor> Device::open_shared(int, int64_t) { return unsupported("the CPU has no memory of its own"); }

void HostClock::start() { start_ = now(); }

std::optional<double> HostClock::stop() {
  device_.synchronize();
  return std::chrono::duration<double, std::micro>(now() - start_).count();
}

}  // namespace passnet::runtime
