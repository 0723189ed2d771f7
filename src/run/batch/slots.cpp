#include "run/batch/slots.h"

#include <algorithm>
#include <utility>

#include "base/processors.h"
#include "run/worker/gpus.h"

namespace passnet::run {

Result<MachineLease> take_for_slots(const EvaluateOptions& options, SlotCount slots, const Waiting& waiting) {
  const std::vector<int> available = available_processors();
  const size_t threads = options.threads > 0 ? static_cast<size_t>(options.threads) : available.size();
  const size_t wanted = options.gpu ? static_cast<size_t>(slots.all()) : threads;
  ThingsByKind all{{"processor", {available, std::min(wanted, available.size())}}};
  if (options.gpu) {
    // A given worker may do without.
    if (options.worker.empty()) PASSNET_TRY_VOID(require_gpus(*options.gpu, slots.gpus));
    Things& gpus = all["gpu"];
    for (int i = 0; i < slots.gpus; ++i) gpus.of.push_back(*options.gpu + i);
    gpus.count = gpus.of.size();
  }
  return MachineLease::take(all, waiting);
}

Waiting waiting_of(const EvaluateOptions& options, std::function<void(const std::string&)> told) {
  return {options.command, options.wait_s, std::move(told), options.interrupted};
}

namespace {

EvaluateOptions with_slot(EvaluateOptions options, DeviceSlot* slot) {
  options.slot = slot;
  return options;
}

std::vector<int> without(std::vector<int> all, const std::vector<int>& some) {
  std::erase_if(all, [&](int one) { return std::ranges::find(some, one) != some.end(); });
  return all;
}

}  // namespace

Slot::Slot(EvaluateOptions own, SharedDevice* device)
    : part_(device ? std::make_unique<DeviceSlot>(*device) : nullptr),
      options_(with_slot(std::move(own), part_.get())),
      workers_(options_) {}

Slots::Slots(const EvaluateOptions& options, SlotCount count, const MachineLease& lease,
             const std::vector<const std::atomic<bool>*>& interrupted)
    : count_(count) {
  const std::vector<int>& held = lease.held("processor");
  // On a GPU a slot has one for the thread that launches and waits, which alone is timed; its other threads, which make
  // inputs, run wherever no slot is timed.
  if (options.gpu && !held.empty()) common_ = without(available_processors(), held);
  for (int i = 0; i < count.gpus; ++i) devices_.push_back(std::make_unique<SharedDevice>(count.per_gpu));
  for (int i = 0; i < count.all(); ++i) {
    EvaluateOptions own = options;
    own.processors = held;
    if (!interrupted.empty()) own.interrupted = interrupted.at(static_cast<size_t>(i));
    if (own.gpu) *own.gpu += i % count.gpus;
    if (own.gpu && !held.empty()) {
      own.processors = {held[static_cast<size_t>(i) % held.size()]};
      own.processors.insert(own.processors.end(), common_.begin(), common_.end());
    }
    slots_.push_back(std::make_unique<Slot>(std::move(own), device_of(static_cast<size_t>(i))));
  }
}

void Slots::renew(size_t index) {
  std::unique_ptr<Slot>& slot = slots_.at(index);
  EvaluateOptions options = slot->options();
  slot.reset();
  slot = std::make_unique<Slot>(std::move(options), device_of(index));
}

SharedDevice* Slots::device_of(size_t index) const {
  return count_.per_gpu > 1 ? devices_[index % devices_.size()].get() : nullptr;
}

}  // namespace passnet::run
