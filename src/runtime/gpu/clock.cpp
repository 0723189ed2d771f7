#include "runtime/gpu/clock.h"

#include <atomic>

#include "runtime/gpu/driver.h"
#include "runtime/gpu/gpu.h"

namespace passnet::runtime::gpu {

namespace {

// Waits until *gate == call, at most `longest` nanoseconds.
constexpr const char* kHoldSource = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry hold(.param .u64 gate, .param .u32 call, .param .u64 longest) {
  .reg .u64 %gate, %start, %now, %longest;
  .reg .u32 %call, %open;
  .reg .pred %p;
  ld.param.u64 %gate, [gate];
  ld.param.u32 %call, [call];
  ld.param.u64 %longest, [longest];
  mov.u64 %start, %globaltimer;
again:
  ld.acquire.sys.u32 %open, [%gate];
  setp.eq.u32 %p, %open, %call;
  @%p bra done;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  setp.lt.u64 %p, %now, %longest;
  @%p bra again;
done:
  ret;
}
)";

constexpr uint64_t kLongestHold_ns = 16'000'000;
constexpr int kTries = 3;

CUevent event(void* made) { return static_cast<CUevent>(made); }

}  // namespace

DeviceClock::DeviceClock(Reads reads) : late_(reads == Reads::Span ? kTries : 0) {
  for (void*& made : events_) {
    CUevent fresh = nullptr;
    check(driver().cuEventCreate(&fresh, CU_EVENT_DEFAULT), "creating an event");
    made = fresh;
  }
  void* memory = nullptr;
  check(driver().cuMemHostAlloc(&memory, sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP),
        "allocating what holds up the stream");
  gate_ = static_cast<uint32_t*>(memory);
  *gate_ = 0;
}

DeviceClock::~DeviceClock() {
  for (void* made : events_) driver().cuEventDestroy(event(made));
  driver().cuMemFreeHost(gate_);
}

void DeviceClock::start() {
  ++call_;
  if (late_ < kTries) {
    static const CUfunction hold = load_function(kHoldSource, "hold");
    CUdeviceptr gate = 0;
    check(driver().cuMemHostGetDevicePointer(&gate, gate_, 0), "finding what holds up the stream");
    uint64_t longest = kLongestHold_ns;
    void* parameters[] = {&gate, &call_, &longest};
    check(driver().cuLaunchKernel(hold, 1, 1, 1, 1, 1, 1, 0, stream(), parameters, nullptr), "holding up the stream");
  }
  check(driver().cuEventRecord(event(events_[0]), stream()), "recording an event");
  check(driver().cuEventRecord(event(events_[1]), stream()), "recording an event");
}

std::optional<double> DeviceClock::stop() {
  check(driver().cuEventRecord(event(events_[2]), stream()), "recording an event");
  const bool late = late_ < kTries && driver().cuEventQuery(event(events_[0])) == CUDA_SUCCESS;
  std::atomic_ref(*gate_).store(call_, std::memory_order_release);
  synchronize();
  if (late) {
    ++late_;
    return std::nullopt;
  }
  float milliseconds = 0;
  check(driver().cuEventElapsedTime(&milliseconds, event(events_[1]), event(events_[2])),
        "reading the time between events");
  return double(milliseconds) * 1000;
}

}  // namespace passnet::runtime::gpu
