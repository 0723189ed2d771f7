#include "runtime/gpu/capture.h"

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/text/strings.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/executable.h"
#include "runtime/gpu/gpu.h"
#include "runtime/gpu/memory_pool.h"
#include "runtime/gpu/operation.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime::gpu {

/// One recording: what the device does, on which inputs, into which outputs.
struct Recording {
  MemoryPool pool;
  std::vector<at::Tensor> inputs;
  std::vector<c10::IValue> outputs;
  CUgraph graph = nullptr;
  std::vector<Operation> operations;

  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (graph != nullptr) driver().cuGraphDestroy(graph);
    outputs.clear();  // before their pool
  }
};

/// Where an output of a call lies: in an input, or in memory `range` of the call's own.
struct OutputPlace {
  bool is_input = false;
  size_t range = 0;    // index among the inputs or among the outputs' memories
  int64_t offset = 0;  // elements from the beginning of that memory
};

/// The memories that hold outputs, each once, and where each output lies.
struct OutputLayout {
  std::vector<MovingRange> ranges;
  std::vector<uint64_t> room;       // by range: bytes that the recorded kernels need there, at least its size
  std::vector<OutputPlace> places;  // by output; those that are no tensors have none
};

namespace {

uint64_t address_of(const at::Tensor& tensor) { return reinterpret_cast<uint64_t>(tensor.const_data_ptr()); }
uint64_t storage_address(const at::Tensor& tensor) { return reinterpret_cast<uint64_t>(tensor.storage().data()); }

/// Ends a capture that an exception left open.
class Capture {
 public:
  Capture() { check(driver().cuStreamBeginCapture(stream(), CU_STREAM_CAPTURE_MODE_RELAXED), "starting to record"); }
  ~Capture() {
    CUgraph graph = nullptr;
    if (open_) driver().cuStreamEndCapture(stream(), &graph);
    if (graph != nullptr) driver().cuGraphDestroy(graph);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  Result<CUgraph> end() {
    CUgraph graph = nullptr;
    open_ = false;
    const CUresult done = driver().cuStreamEndCapture(stream(), &graph);
    if (done != CUDA_SUCCESS || graph == nullptr) return unsupported(describe(done));
    return graph;
  }

 private:
  bool open_ = true;
};

/// The operations of a graph in their order. Errors: Unsupported when they are no chain.
Result<std::vector<Operation>> read_operations(CUgraph graph) {
  size_t count = 0, edge_count = 0;
  check(driver().cuGraphGetNodes(graph, nullptr, &count), "reading what was recorded");
  std::vector<CUgraphNode> nodes(count);
  check(driver().cuGraphGetNodes(graph, nodes.data(), &count), "reading what was recorded");
  check(driver().cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edge_count), "reading what was recorded");
  std::vector<CUgraphNode> from(edge_count), to(edge_count);
  std::vector<CUgraphEdgeData> data(edge_count);
  check(driver().cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &edge_count), "reading what was recorded");
  std::map<CUgraphNode, CUgraphNode> next, before;
  for (size_t i = 0; i < edge_count; ++i) next[from[i]] = to[i], before[to[i]] = from[i];
  if (count == 0) return std::vector<Operation>();  // a graph of views
  if (edge_count + 1 != count || next.size() != edge_count || before.size() != edge_count)
    return unsupported("operations that run beside each other");
  CUgraphNode node = *std::find_if(nodes.begin(), nodes.end(), [&](CUgraphNode n) { return !before.contains(n); });
  std::vector<Operation> operations;
  for (size_t i = 0; i < count; ++i, node = next[node]) {
    PASSNET_TRY(Operation operation, Operation::read(node));
    operations.push_back(std::move(operation));
  }
  return operations;
}

Result<std::unique_ptr<Recording>> make_recording(const RecordedCall::Run& run, const std::vector<at::Tensor>& inputs) {
  auto recording = std::make_unique<Recording>();
  for (const at::Tensor& input : inputs) recording->inputs.push_back(input.clone());
  synchronize();
  try {
    const MemoryPool::Use use(recording->pool);
    Capture capture;
    Result<std::vector<c10::IValue>> outputs = run(recording->inputs);
    if (!outputs) return unsupported(first_line(outputs.error().message));
    // What the CPU computed is not among the operations of the device, so repeating them would not compute it.
    if (const auto elsewhere = first_elsewhere(*outputs, graph_device()))
      return unsupported(fmt::format("output {} lies on the CPU", *elsewhere));
    recording->outputs = std::move(*outputs);
    PASSNET_TRY(recording->graph, capture.end());
  } catch (const std::exception& refused) {
    return unsupported(first_line(refused.what()));
  }
  PASSNET_TRY(recording->operations, read_operations(recording->graph));
  return recording;
}

OutputLayout lay_out(const Recording& recording) {
  OutputLayout layout;
  for (const c10::IValue& value : recording.outputs) {
    OutputPlace place;
    if (value.isTensor() && value.toTensor().defined()) {
      const at::Tensor& tensor = value.toTensor();
      const uint64_t storage = storage_address(tensor);
      place.offset = tensor.storage_offset();
      for (size_t i = 0; i < recording.inputs.size(); ++i) {
        if (recording.inputs[i].is_alias_of(tensor)) place.is_input = true, place.range = i;
      }
      if (!place.is_input) {
        const auto found = std::find_if(layout.ranges.begin(), layout.ranges.end(),
                                        [&](const MovingRange& range) { return range.first == storage; });
        place.range = static_cast<size_t>(found - layout.ranges.begin());
        if (found == layout.ranges.end()) {
          layout.ranges.push_back({storage, tensor.storage().nbytes()});
          layout.room.push_back(tensor.storage().nbytes());
        }
      }
    }
    layout.places.push_back(place);
  }
  return layout;
}

std::vector<MovingRange> moving_ranges(const Recording& recording, const OutputLayout& outputs) {
  std::vector<MovingRange> ranges;
  for (const at::Tensor& input : recording.inputs)
    ranges.push_back({address_of(input), static_cast<uint64_t>(input.nbytes())});
  ranges.insert(ranges.end(), outputs.ranges.begin(), outputs.ranges.end());
  return ranges;
}

/// Bytes from here to the end of the memory that the allocator got in one piece: no temporary reaches further. 0 of an
/// empty tensor, which has no memory.
uint64_t bytes_from(uint64_t address) {
  if (address == 0) return 0;
  CUdeviceptr first = 0;
  size_t size = 0;
  check(driver().cuMemGetAddressRange(&first, &size, address), "asking for the size of a memory");
  return first + size - address;
}

class GraphCall final : public RecordedCall {
 public:
  explicit GraphCall(std::unique_ptr<Recording> made) : recording_(std::move(made)), layout_(lay_out(*recording_)) {}
  GraphCall(const GraphCall&) = delete;
  GraphCall& operator=(const GraphCall&) = delete;

  Result<void> instantiate() {
    PASSNET_TRY(executable_,
                Executable::make(recording_->graph, recording_->operations, recording_->operations.size()));
    return {};
  }
  /// From now on addresses are put into the operations, when they can all be found and the call then gives what `run`
  /// does.
  bool try_patching(const Recording& second, const Run& run, const std::vector<at::Tensor>& inputs) {
    if (!learn_addresses(second)) return false;
    patched_ = true;
    return gives_what_is_expected(run, inputs);
  }
  /// From now on inputs and outputs are copied. Operations that were patched on trial go back to the recording's
  /// addresses.
  void copy_instead() {
    patched_ = false;
    std::vector<uint64_t> own;
    for (const MovingRange& range : moving_ranges(*recording_, layout_)) own.push_back(range.first);
    for (size_t i = 0; i < layout_.room.size(); ++i) layout_.room[i] = layout_.ranges[i].size;
    for (Operation& operation : recording_->operations) operation.patch(own);
    executable_.update(recording_->operations);
  }
  /// Launches from now on in the quickest way: as one graph, as several, or one by one where that is possible.
  void choose_launching(const std::vector<at::Tensor>& inputs) {
    const std::vector<Operation>& operations = recording_->operations;
    constexpr size_t kFirst = 8;  // operations of the first graph of several
    const bool can_be_several = operations.size() > 2 * kFirst;
    const bool can_be_direct = std::ranges::none_of(operations, &Operation::must_stay_in_graph);
    if (!can_be_several && !can_be_direct) return;
    std::vector<std::vector<at::Tensor>> copies(2);
    for (std::vector<at::Tensor>& set : copies) {
      for (const at::Tensor& input : inputs) set.push_back(input.clone());
    }
    double least = quickest(copies);
    if (can_be_several) {
      if (Result<Executable> several = Executable::make(recording_->graph, operations, kFirst))
        take_if_quicker(std::move(*several), copies, least);
    }
    if (can_be_direct) {
      direct_ = true;
      direct_ = quickest(copies) <= least;
    }
    release();
  }

  void call(const std::vector<at::Tensor>& inputs) override {
    find_addresses(inputs);
    if (patched_) {
      launch();
    } else {
      const std::vector<MovingRange> own = moving_ranges(*recording_, layout_);
      for (size_t i = 0; i < inputs.size(); ++i) copy(own[i].first, base_[i], own[i].size);
      launch();
      // Also inputs, since the graph may change them.
      for (size_t i = 0; i < own.size(); ++i) copy(base_[i], own[i].first, own[i].size);
    }
    make_outputs(inputs);
  }
  const std::vector<c10::IValue>& outputs() const override { return outputs_; }
  void release() override {
    outputs_.clear();
    memories_.clear();
  }
  std::string mode() const override { return direct_ ? "direct" : patched_ ? "graph" : "graph with copies"; }

 private:
  std::unique_ptr<Recording> recording_;
  OutputLayout layout_;
  c10::Allocator* allocator_ = c10::GetAllocator(c10::DeviceType::CUDA);
  Executable executable_;
  bool direct_ = false;   // launches one by one instead of the executable
  bool patched_ = false;  // addresses are put into the operations; else inputs and outputs are copied
  std::vector<uint64_t> base_;
  std::vector<c10::Storage> memories_;
  std::vector<c10::IValue> outputs_;

  c10::Storage allocate(uint64_t bytes) const {
    return c10::Storage(c10::Storage::use_byte_size_t(), bytes, allocator_->allocate(bytes), allocator_, false);
  }
  void find_addresses(const std::vector<at::Tensor>& inputs) {
    base_.clear();
    memories_.clear();
    for (const at::Tensor& input : inputs) base_.push_back(address_of(input));
    for (const uint64_t bytes : layout_.room) {
      memories_.push_back(allocate(bytes));
      base_.push_back(reinterpret_cast<uint64_t>(memories_.back().data()));
    }
  }
  void launch() {
    const std::vector<uint64_t>* const base = patched_ ? &base_ : nullptr;
    if (!direct_) return executable_.launch(recording_->operations, base);
    for (Operation& operation : recording_->operations) {
      if (base != nullptr) operation.patch(*base);
      check(operation.launch(stream()), "launching a recorded operation");
    }
  }
  void copy(uint64_t to, uint64_t from, uint64_t size) const {
    if (size > 0) check(driver().cuMemcpyDtoDAsync(to, from, size, stream()), "copying on the device");
  }
  void make_outputs(const std::vector<at::Tensor>& inputs) {
    outputs_.clear();
    for (size_t i = 0; i < layout_.places.size(); ++i) {
      const c10::IValue& recorded = recording_->outputs[i];
      const OutputPlace& place = layout_.places[i];
      if (!recorded.isTensor() || !recorded.toTensor().defined()) {
        outputs_.push_back(recorded);
        continue;
      }
      const at::Tensor& tensor = recorded.toTensor();
      c10::Storage storage = place.is_input ? inputs[place.range].storage() : memories_[place.range];
      at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
          std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), tensor.dtype());
      made.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), place.offset);
      outputs_.emplace_back(std::move(made));
    }
  }
  /// Launches `other` from now on if that is quicker; least: us of a call so far.
  void take_if_quicker(Executable other, const std::vector<std::vector<at::Tensor>>& input_sets, double& least) {
    std::swap(executable_, other);
    executable_.update(recording_->operations);
    const double time = quickest(input_sets);
    if (time >= least) {
      std::swap(executable_, other);
      executable_.update(recording_->operations);
    }
    least = std::min(time, least);
  }
  /// us of a call, the least of some, on inputs and into outputs that lie elsewhere each time.
  double quickest(const std::vector<std::vector<at::Tensor>>& input_sets) {
    using Clock = std::chrono::steady_clock;
    constexpr size_t kLeastCalls = 4, kMostCalls = 20;
    const auto end = Clock::now() + std::chrono::milliseconds(100);
    double best = 1e30;
    std::vector<c10::IValue> kept;
    for (size_t i = 0; i < kLeastCalls || (i < kMostCalls && Clock::now() < end); ++i) {
      const auto start = Clock::now();
      call(input_sets[i % input_sets.size()]);
      synchronize();
      best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
      kept = outputs_;
    }
    return best;
  }
  bool learn_addresses(const Recording& second) {
    const OutputLayout its = lay_out(second);
    if (its.ranges.size() != layout_.ranges.size() || second.operations.size() != recording_->operations.size())
      return false;
    const std::vector<MovingRange> here = moving_ranges(*recording_, layout_), there = moving_ranges(second, its);
    for (size_t i = 0; i < here.size(); ++i) {
      if (here[i].size != there[i].size) return false;
    }
    for (size_t i = 0; i < second.operations.size(); ++i) {
      if (!recording_->operations[i].learn_addresses(second.operations[i], here, there)) return false;
    }
    return true;
  }
  bool gives_what_is_expected(const Run& run, const std::vector<at::Tensor>& inputs);
};

// What could be wrong shows when the call is tried elsewhere. An address that was not found: the inputs of the
// recording are overwritten and fresh outputs poisoned, so results differ. A temporary that stood where an output came
// to lie, and is larger: its address now points to the output's memory, so that must have room for it; how much,
// canaries behind the output tell. For the trial there is room for whatever could stand there; a temporary that needs
// much more than the output is not worth it.
bool GraphCall::gives_what_is_expected(const Run& run, const std::vector<at::Tensor>& inputs) {
  constexpr uint64_t kLeastSlack = uint64_t{1} << 20;
  constexpr unsigned char kCanary = 0xC7;
  std::vector<at::Tensor> first, second;
  for (const at::Tensor& input : inputs) first.push_back(input.clone()), second.push_back(input.clone());
  const Result<std::vector<c10::IValue>> expected = run(first);
  if (!expected) return false;
  for (const at::Tensor& input : recording_->inputs) input.zero_();  // zeros are good as indices, too
  const auto most_bytes = [&](size_t i) { return 4 * layout_.ranges[i].size + kLeastSlack; };
  for (size_t i = 0; i < layout_.room.size(); ++i)
    layout_.room[i] = std::max(most_bytes(i), bytes_from(layout_.ranges[i].first));
  try {
    find_addresses(second);
  } catch (const c10::OutOfMemoryError&) {
    memories_.clear();
    return false;
  }
  for (size_t i = 0; i < memories_.size(); ++i)
    check(driver().cuMemsetD8Async(base_[inputs.size() + i], kCanary, memories_[i].nbytes(), stream()),
          "poisoning outputs");
  launch();
  make_outputs(second);
  bool good = true;
  for (size_t i = 0; i < outputs_.size() && good; ++i) {
    if (!outputs_[i].isTensor() || !outputs_[i].toTensor().defined()) continue;
    good = same_bytes(outputs_[i].toTensor().contiguous(), (*expected)[i].toTensor().contiguous());
  }
  for (size_t i = 0; i < memories_.size() && good; ++i) {
    at::Tensor bytes = at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(memories_[i]), c10::DispatchKeySet(c10::DispatchKey::CUDA), caffe2::TypeMeta::Make<uint8_t>());
    const auto size = static_cast<int64_t>(layout_.ranges[i].size);
    bytes.unsafeGetTensorImpl()->set_sizes_contiguous({static_cast<int64_t>(most_bytes(i))});
    const at::Tensor broken = bytes.narrow(0, size, bytes.numel() - size).ne(kCanary).nonzero();
    const int64_t needed = broken.numel() == 0 ? 0 : broken.max().item<int64_t>() + 1;
    good = size + needed < bytes.numel();
    layout_.room[i] = static_cast<uint64_t>(size + needed);
  }
  release();
  for (size_t i = 0; i < inputs.size(); ++i) recording_->inputs[i].copy_(inputs[i]);
  return good;
}

}  // namespace

Result<std::unique_ptr<RecordedCall>> record_call(const RecordedCall::Run& run, const std::vector<at::Tensor>& inputs) {
  PASSNET_TRY(std::unique_ptr<Recording> recording, make_recording(run, inputs));
  PASSNET_TRY(const std::unique_ptr<Recording> second, make_recording(run, inputs));
  auto call = std::make_unique<GraphCall>(std::move(recording));
  PASSNET_TRY_VOID(call->instantiate());
  if (call->try_patching(*second, run, inputs))
    call->choose_launching(inputs);
  else
    call->copy_instead();
  return call;
}

}  // namespace passnet::runtime::gpu
