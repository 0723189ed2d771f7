#include "runtime/session/fresh_calls.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/random.h"
#include "runtime/device/counter.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

/// Bytes by which a tensor can lie elsewhere in its block, and steps of that: recorded calls on a GPU need 256.
constexpr int64_t kPlay = 4096, kStep = 256;

/// Seed of the calls that begin with this set. docs/protocol.md has the same formula for candidates in Python.
uint64_t batch_seed(uint64_t seed, int64_t first) { return seed + (static_cast<uint64_t>(first) << 32); }

class FreshCalls {
 public:
  FreshCalls(LoadedGraph& graph, const protocol::TimeOnSets& options)
      : graph_(graph), sets_(*graph.call_sets), options_(options) {}
  ~FreshCalls() { graph_.use_inputs(own_inputs_); }
  FreshCalls(const FreshCalls&) = delete;
  FreshCalls& operator=(const FreshCalls&) = delete;

  Result<void> initialize() {
    PASSNET_TRY_VOID(graph_.require_inputs());
    if (options_.calls < 1 || options_.calls > sets_.size() || options_.together < 1)
      return bad_input(
          fmt::format("{} calls, {} together: there are {} sets", options_.calls, options_.together, sets_.size()));
    PASSNET_TRY_VOID(graph_.require_room(options_.together));
    PASSNET_TRY_VOID(graph_.learn_mutations());
    PASSNET_TRY_VOID(graph_.record());
    PASSNET_TRY(const uint64_t seed, random_number());
    random_.seed(seed);
    own_inputs_ = graph_.inputs_in_use();
    clock_ = std::make_unique<HostClock>(graph_.device());
    return {};
  }

  /// What a block begins with: the caches and threads of this side as its own calls leave them.
  Result<void> settle() {
    for (int64_t i = 0; i < options_.settling; ++i) {
      std::vector<at::Tensor> inputs;
      for (const at::Tensor& tensor : graph_.pristine()) {
        inputs.push_back(elsewhere(tensor));
        inputs.back().copy_(tensor);
      }
      PASSNET_TRY_VOID(batch({inputs}, graph_.call_seed(), nullptr));
    }
    return {};
  }

  Result<void> run() {
    for (int64_t first = 0; first < options_.calls; first += options_.together) {
      const int64_t count = std::min(options_.together, options_.calls - first);
      std::vector<std::vector<at::Tensor>> inputs;
      if (host() != nullptr) host()->renew(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) {
        inputs.emplace_back();
        for (size_t k = 0; k < graph_.pristine().size(); ++k) {
          inputs.back().push_back(elsewhere(graph_.pristine()[k]));
          sets_.fill(first + i, graph_.plan().input_names()[k], graph_.pristine()[k], inputs.back().back());
        }
      }
      double time_us = 0;
      last_ = first + count == options_.calls;
      PASSNET_TRY_VOID(batch(inputs, batch_seed(options_.seed, first), &time_us));
      times_.times.times_us.push_back(time_us / static_cast<double>(count));
    }
    return {};
  }

  FreshTimes finish() {
    if (host() != nullptr) host()->require_intact();
    graph_.describe_calls(times_.times);
    return std::move(times_);
  }

 private:
  using Inputs = std::vector<at::Tensor>;
  KernelHost* host() const { return graph_.fused().host(); }

  /// A tensor like this one, at a random place in a block of its own; its elements are as they happen to be.
  at::Tensor elsewhere(const at::Tensor& tensor) {
    const int64_t bytes = static_cast<int64_t>(tensor.nbytes());
    at::Tensor block = at::empty({bytes + kPlay}, at::TensorOptions(graph_device()).dtype(at::kByte));
    const auto shift = static_cast<int64_t>(random_() % (kPlay / kStep)) * kStep;
    return at::from_blob(
        static_cast<char*>(block.data_ptr()) + shift, tensor.sizes(), tensor.strides(), [block](void*) {},
        tensor.options().device(graph_device()), graph_device());
  }

  /// Calls on `inputs`, one after the other. seed: of random operators. time_us: of all of them; null: they are not timed, and nothing is kept.
  Result<void> batch(const std::vector<Inputs>& inputs, uint64_t seed, double* time_us) {
    std::vector<std::vector<c10::IValue>> outputs(inputs.size());
    while (true) {
      seed_generators(seed);
      graph_.expect_launches();
      graph_.device().synchronize();
      const Deferring deferring(graph_.fused(), graph_.hands_over());
      const CounterOff counter_off(graph_.gives_way());
      clock_->start();
      const Result<void> done = calls(inputs, outputs);
      const std::optional<double> taken = clock_->stop();
      if (!done) return done.error();
      if (taken || time_us == nullptr) {
        if (time_us != nullptr) *time_us = *taken;
        break;
      }
    }
    for (size_t i = 0; i < inputs.size() && time_us != nullptr; ++i) keep(inputs[i], outputs[i]);
    outputs.clear();
    graph_.plan().release();
    if (graph_.recorded()) graph_.recorded()->release();
    return {};
  }

  Result<void> calls(const std::vector<Inputs>& inputs, std::vector<std::vector<c10::IValue>>& outputs) {
    if (graph_.recorded()) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        graph_.recorded()->call(inputs[i]);
        outputs[i] = graph_.recorded()->outputs();
      }
      return {};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      graph_.use_inputs(inputs[i]);
      PASSNET_TRY_VOID(graph_.plan().run());
      outputs[i] = graph_.plan().outputs();
    }
    if (graph_.fused().deferring) host()->finish();
    return {};
  }

  void keep(const Inputs& inputs, const std::vector<c10::IValue>& outputs) {
    CallResult kept{call_outputs(outputs), {}};
    for (CallOutput& output : kept.outputs) {
      // What the next batch would overwrite.
      if (output.tensor.defined() && !last_) output.tensor = output.tensor.clone();
    }
    for (const size_t index : graph_.mutated())
      kept.inputs.emplace(graph_.plan().input_names()[index], CallOutput{inputs[index], {}});
    times_.results.push_back(std::move(kept));
  }

  LoadedGraph& graph_;
  CallSets& sets_;
  const protocol::TimeOnSets& options_;
  std::mt19937_64 random_;
  Inputs own_inputs_;
  std::unique_ptr<CallClock> clock_;
  FreshTimes times_;
  bool last_ = false;  // no batch follows
};

}  // namespace

Result<FreshTimes> time_fresh_calls(LoadedGraph& graph, const protocol::TimeOnSets& options) {
  graph.call_sets->follow(options.seed, options.draw);
  graph.call_sets->plant(options.planted, options.wider);
  FreshCalls calls(graph, options);
  PASSNET_TRY_VOID(calls.initialize());
  PASSNET_TRY_VOID(calls.settle());
  PASSNET_TRY_VOID(calls.run());
  return calls.finish();
}

}  // namespace passnet::runtime
