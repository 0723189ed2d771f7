// Stands in for runtime/gpu*.cpp in a build without CUDA's headers (they come with a PyTorch built for CUDA).
#include <stdexcept>

#include "runtime/gpu/capture.h"
#include "runtime/gpu/check.h"
#include "runtime/gpu/clock.h"
#include "runtime/gpu/compare.h"
#include "runtime/gpu/gpu.h"
#include "runtime/gpu/kernel.h"

namespace passnet::runtime::gpu {

namespace {
Error absent() {
  return resource_error("this passnet was built without CUDA's headers")
      .with_hint(
          "build it with a PyTorch for CUDA and nvidia-cuda-runtime (they lie beside it), or run with --device cpu");
}
[[noreturn]] void never() { throw std::logic_error("a GPU is used that was never started"); }
}  // namespace

Result<c10::Device> start(int) { return absent(); }
std::string name() { return ""; }
std::string architecture() { return ""; }
void synchronize() { never(); }
void flush_cache() { never(); }
bool has_stopped() { never(); }
MemoryUse give_back_memory() { never(); }
void make_room() { never(); }
Condition condition() { return {}; }

DeviceClock::DeviceClock() { never(); }
DeviceClock::~DeviceClock() = default;
void DeviceClock::start() { never(); }
std::optional<double> DeviceClock::stop() { never(); }

OutputComparison::OutputComparison(const std::vector<at::Tensor>& expected, int64_t) : expected_(expected) { never(); }
void OutputComparison::add(const std::vector<c10::IValue>&) { never(); }
int64_t OutputComparison::differing() const { never(); }

Result<std::shared_ptr<const Kernel>> Kernel::load(const KernelFile&) { return absent(); }
Kernel::~Kernel() = default;
ReadyLaunch::ReadyLaunch(const pass::Launch& launch, std::shared_ptr<const Kernel>) : launch_(launch) {}
void ReadyLaunch::run(char* const*) { never(); }

void check_launches(const FusedLibrary&, size_t, const std::vector<at::Tensor>&) { never(); }

struct RecordedCall::State {};
RecordedCall::RecordedCall() = default;
RecordedCall::~RecordedCall() = default;
Result<std::unique_ptr<RecordedCall>> RecordedCall::record(const Run&, const std::vector<at::Tensor>&) {
  return absent();
}
void RecordedCall::call(const std::vector<at::Tensor>&) { never(); }
const std::vector<c10::IValue>& RecordedCall::outputs() const { never(); }
void RecordedCall::release() { never(); }
std::string RecordedCall::mode() const { never(); }

}  // namespace passnet::runtime::gpu
