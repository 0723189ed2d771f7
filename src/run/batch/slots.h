// What evaluations that go on side by side have of the machine: each its processors, its GPU or its part in one, and its
// workers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/evaluate/evaluate_options.h"
#include "run/evaluate/evaluation_workers.h"
#include "run/machine/machine_lock.h"
#include "run/worker/shared_device.h"

namespace passnet::run {

/// How many evaluations go on side by side. On the CPU one.
struct SlotCount {
  int gpus = 1;     // EvaluateOptions::gpu and those after it
  int per_gpu = 1;  // on each, one of which is timed while the others are got ready

  int all() const { return gpus * per_gpu; }
};

/// Takes what that many slots need of the machine: on the CPU the processors that graphs run on, on a GPU it and a
/// processor per slot. Waits while another evaluation has them. Errors: as MachineLease::take; Resource, without waiting:
/// there are no such GPUs.
Result<MachineLease> take_for_slots(const EvaluateOptions& options, SlotCount slots, const Waiting& waiting);

/// As the options say. told: Waiting::told.
Waiting waiting_of(const EvaluateOptions& options, std::function<void(const std::string&)> told);

/// One evaluation's. Its workers start when they are first needed.
class Slot {
 public:
  /// device: null where it is alone on its GPU, or on the CPU.
  Slot(EvaluateOptions options, SharedDevice* device);
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  EvaluateOptions& options() { return options_; }  // seed and profile may change from sample to sample
  EvaluationWorkers& workers() { return workers_; }

 private:
  std::unique_ptr<DeviceSlot> part_;
  EvaluateOptions options_;
  EvaluationWorkers workers_;
};

/// All of them, on what is held.
class Slots {
 public:
  /// interrupted: EvaluateOptions::interrupted of each slot; empty: as in `options`.
  Slots(const EvaluateOptions& options, SlotCount count, const MachineLease& lease,
        const std::vector<const std::atomic<bool>*>& interrupted = {});

  Slot& at(size_t index) { return *slots_.at(index); }
  /// The same anew, with workers that have seen nothing.
  void renew(size_t index);
  size_t size() const { return slots_.size(); }
  /// Where the threads run that work for the slots, and all they start but workers: where no slot is timed. Empty:
  /// anywhere.
  const std::vector<int>& common_processors() const { return common_; }

 private:
  SharedDevice* device_of(size_t index) const;

  SlotCount count_;
  std::vector<int> common_;
  std::vector<std::unique_ptr<SharedDevice>> devices_;  // they outlive the slots
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace passnet::run
