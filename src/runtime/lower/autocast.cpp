// torch.autocast as captured: entering and leaving. They set PyTorch's own mode, so every operator in between
// is cast by its rules. Source: torch/amp/autocast_mode.py of PyTorch 2.11 (behaviour).
#include <ATen/autocast_mode.h>

#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

namespace autocast = at::autocast;

/// What was set before an enter.
struct Saved {
  bool enabled, cache;
  at::ScalarType dtype;
};
std::vector<Saved>& entered() {
  static std::vector<Saved> saved;
  return saved;
}

void leave_one() {
  if (entered().empty()) return;
  const Saved saved = entered().back();
  entered().pop_back();
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  autocast::set_autocast_enabled(at::kCPU, saved.enabled);
  autocast::set_autocast_dtype(at::kCPU, saved.dtype);
  autocast::set_autocast_cache_enabled(saved.cache);
}

c10::IValue enter(std::vector<c10::IValue>& inputs) {
  const bool on_cpu = inputs[0].toStringRef() == "cpu";
  entered().push_back({autocast::is_autocast_enabled(at::kCPU), autocast::is_autocast_cache_enabled(),
                       autocast::get_autocast_dtype(at::kCPU)});
  autocast::increment_nesting();
  if (!inputs[3].isNone()) autocast::set_autocast_cache_enabled(inputs[3].toBool());
  // Another device's mode means nothing here, as PyTorch on a machine without that device.
  if (!on_cpu) return {};
  const at::ScalarType dtype = inputs[1].isNone() ? autocast::get_autocast_dtype(at::kCPU) : inputs[1].toScalarType();
  const bool supported = dtype == at::kBFloat16 || dtype == at::kHalf;
  autocast::set_autocast_enabled(at::kCPU, inputs[2].toBool() && supported);
  autocast::set_autocast_dtype(at::kCPU, dtype);
  return {};
}

c10::IValue leave(std::vector<c10::IValue>&) {
  leave_one();
  return {};
}

const Rule kAutocastRules[] = {
    {"torch.amp.autocast_mode._enter_autocast", host_call<enter, Kind::Opaque>},
    {"torch.amp.autocast_mode._exit_autocast",
     [](Builder& b, const Bound&) { return b.host(leave, Kind::Opaque, {}); }},
};

}  // namespace

std::span<const Rule> autocast_rules() { return kAutocastRules; }

void leave_autocast() {
  while (!entered().empty()) leave_one();
}

}  // namespace passnet::runtime
