#include "runtime/use/gpu_calls.h"

#include <algorithm>
#include <utility>

#include "runtime/device/kernel_fault.h"
#include "runtime/gpu/on_gpu.h"

namespace passnet::runtime {

namespace {

constexpr size_t kMostKinds = 8;               // that are recorded: each keeps its temporaries
constexpr int kMostRecordings = 8;             // of one kind, as inputs come from elsewhere
constexpr uintptr_t kRecordedAlignment = 256;  // bytes

const void* place_of(const at::Tensor& tensor) { return tensor.const_data_ptr(); }

/// The tensors whose flag is set.
std::vector<at::Tensor> those(const std::vector<at::Tensor>& tensors, const std::vector<bool>& flags) {
  std::vector<at::Tensor> some;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (flags[i]) some.push_back(tensors[i]);
  }
  return some;
}

}  // namespace

/// Of one input.
struct GpuCalls::InputKind {
  c10::DispatchKeySet keys;
  at::ScalarType dtype;
  std::vector<int64_t> sizes, strides;

  explicit InputKind(const at::Tensor& tensor)
      : keys(tensor.key_set()),
        dtype(tensor.scalar_type()),
        sizes(tensor.sizes().vec()),
        strides(tensor.strides().vec()) {}
  bool holds_for(const at::Tensor& tensor) const {
    return tensor.key_set() == keys && tensor.scalar_type() == dtype && tensor.sizes() == at::IntArrayRef(sizes) &&
           tensor.strides() == at::IntArrayRef(strides);
  }
};

struct GpuCalls::Kind {
  std::vector<InputKind> inputs;
  std::vector<const void*> places;  // in the last call
  std::vector<bool> moves;
  bool was_called = false, refused = false;
  int recordings = 0;
  std::unique_ptr<RecordedCall> recorded;
};

GpuCalls::GpuCalls(c10::DeviceIndex index, Device& device, Run run, std::vector<bool> may_write)
    : index_(index), device_(device), run_(std::move(run)), may_write_(std::move(may_write)) {}

GpuCalls::~GpuCalls() {
  const OnGpu on(index_, OnGpu::Stream::Current);
  on.wait_for_all();  // what is freed now may still run
  kinds_.clear();
}

GpuCalls::Kind* GpuCalls::find(const Tensors& inputs) {
  for (const std::unique_ptr<Kind>& kind : kinds_) {
    bool holds = true;
    for (size_t i = 0; holds && i < inputs.size(); ++i) holds = kind->inputs[i].holds_for(inputs[i]);
    if (holds) return kind.get();
  }
  if (kinds_.size() == kMostKinds) return nullptr;
  auto made = std::make_unique<Kind>();
  for (const at::Tensor& input : inputs) made->inputs.emplace_back(input);
  made->places.resize(inputs.size());
  made->moves = may_write_;
  kinds_.push_back(std::move(made));
  return kinds_.back().get();
}

bool GpuCalls::note_places(Kind& kind, const Tensors& inputs) {
  bool same = kind.was_called;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (kind.moves[i]) continue;
    const void* const place = place_of(inputs[i]);
    if (kind.was_called && place != kind.places[i]) kind.moves[i] = true, same = false;
    kind.places[i] = place;
  }
  kind.was_called = true;
  return same;
}

GpuCalls::Outputs GpuCalls::call(const Tensors& inputs) {
  const OnGpu on(index_, OnGpu::Stream::Current);
  mode_ = "operators";
  Kind* const kind = on.is_recorded_by_user() ? nullptr : find(inputs);
  if (kind == nullptr || kind->refused) return run_(inputs, false);
  if (!note_places(*kind, inputs)) {
    kind->recorded.reset();
    return run_(inputs, false);
  }
  if (!can_be_recorded(*kind, inputs)) return run_(inputs, false);
  if (!kind->recorded) record(*kind, inputs);
  if (!kind->recorded) return run_(inputs, false);
  const OnGpu::Turn turn(on);
  RecordedCall& recorded = *kind->recorded;
  recorded.call(those(inputs, kind->moves));
  std::vector<c10::IValue> outputs = recorded.outputs();
  recorded.release();
  mode_ = recorded.mode();
  return outputs;
}

bool GpuCalls::can_be_recorded(const Kind& kind, const Tensors& inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!kind.moves[i]) continue;
    const at::Tensor& input = inputs[i];
    if (reinterpret_cast<uintptr_t>(place_of(input)) % kRecordedAlignment != 0 || !input.is_non_overlapping_and_dense())
      return false;
    if (!may_write_[i]) continue;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (k != i && inputs[k].is_alias_of(input)) return false;
    }
  }
  return true;
}

void GpuCalls::record(Kind& kind, const Tensors& inputs) {
  Result<std::unique_ptr<RecordedCall>> made = unsupported("its inputs come from elsewhere again and again");
  if (++kind.recordings <= kMostRecordings) made = make_recording(kind, inputs);
  if (made) {
    kind.recorded = std::move(*made);
  } else {
    kind.refused = true;
    why_ = made.error().message;
  }
}

Result<std::unique_ptr<RecordedCall>> GpuCalls::make_recording(Kind& kind, const Tensors& inputs) {
  const OnGpu on(index_, OnGpu::Stream::Own);
  const auto run = [&](const Tensors& moving) {
    Tensors all = inputs;
    size_t next = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (kind.moves[i]) all[i] = moving[next++];
    }
    return run_(all, true);
  };
  try {
    // What the first call on this stream loads and allocates must not be recorded.
    Tensors copies = those(inputs, kind.moves);
    for (at::Tensor& copy : copies) copy = copy.clone();
    PASSNET_TRY(std::vector<c10::IValue> outputs, run(copies));
    device_.synchronize();
    for (const c10::IValue& output : outputs) {
      if (!output.isTensor() || !output.toTensor().defined()) continue;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].is_alias_of(output.toTensor())) kind.moves[i] = true;
      }
    }
    outputs.clear();
    if (!can_be_recorded(kind, inputs)) return unsupported("an output is a view of an input that is not dense");
    return device_.record(run, those(inputs, kind.moves));
  } catch (const KernelFault& fault) {
    return bad_input(fault.message);
  } catch (const std::exception& problem) {
    return unsupported(problem.what());
  }
}

}  // namespace passnet::runtime
