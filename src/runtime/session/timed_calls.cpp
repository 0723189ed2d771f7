#include "runtime/session/timed_calls.h"

#include <optional>

#include "runtime/device/counter.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

/// A measurement in steps; time_calls() below is their order.
class TimedCalls {
 public:
  TimedCalls(LoadedGraph& graph, const protocol::Time& options) : graph_(graph), options_(options) {}

  Result<void> check() const {
    if (on_device_clock() && graph_device().is_cpu()) return bad_input("only a GPU has a clock of its own");
    return graph_.require_inputs();
  }

  /// What every call needs and none should pay for.
  Result<void> initialize() {
    PASSNET_TRY_VOID(graph_.require_room(options_.together));
    PASSNET_TRY_VOID(graph_.learn_mutations());
    PASSNET_TRY_VOID(graph_.record());
    // Inputs that a call changes are restored before the next one.
    if (graph_.mutated().empty()) together_ = options_.together;
    working_ = graph_.inputs_in_use();
    clock_ = on_device_clock() ? graph_.device().make_clock() : std::make_unique<HostClock>(graph_.device());
    if (options_.fingerprint) graph_.comparison().begin(options_.calls);
    times_.times_us.reserve(static_cast<size_t>(options_.calls));
    return {};
  }

  Result<void> run_trials() {
    for (int64_t number = 0; number < options_.calls;) {
      if (options_.settle) PASSNET_TRY_VOID(settle(number));
      prepare(number);
      PASSNET_TRY(const std::optional<double> time_us, timed_call());
      if (time_us) {
        times_.times_us.push_back(*time_us);
        if (options_.fingerprint) graph_.comparison().add(outputs());
        ++number;
      }
      release();
    }
    return {};
  }

  /// Throws KernelFault when a kernel changed an input.
  void finish() {
    if (options_.fingerprint) times_.changed = graph_.comparison().differing();
    graph_.require_inputs_unchanged();
    if (options_.fresh) graph_.use_inputs(working_);
  }

  protocol::CallTimes summarize() {
    graph_.describe_calls(times_);
    return std::move(times_);
  }

 private:
  bool on_device_clock() const { return options_.clock == "device"; }
  /// A call like the timed one, so that this finds what a call leaves behind.
  Result<void> settle(int64_t number) {
    prepare(number);
    {
      const CounterOff counter_off(graph_.gives_way());
      PASSNET_TRY_VOID(call(recorded_inputs()));
    }
    release();
    return {};
  }
  void prepare(int64_t number) {
    if (options_.fresh) take_fresh_inputs(number);
    graph_.prepare_call();
    if (options_.flush) graph_.device().flush_cache();
    graph_.device().synchronize();
    graph_.expect_launches();
  }
  /// Inputs as they were set, elsewhere than those of the two calls before.
  void take_fresh_inputs(int64_t number) {
    constexpr size_t kSets = 3;
    if (graph_.fresh_inputs.empty()) graph_.fresh_inputs.resize(kSets, working_);
    std::vector<at::Tensor>& inputs = graph_.fresh_inputs[static_cast<size_t>(number) % kSets];
    for (size_t i = 0; i < inputs.size(); ++i) {
      const at::Tensor& pristine = graph_.pristine()[i];
      const bool own = inputs[i].data_ptr() != working_[i].data_ptr() && inputs[i].sizes() == pristine.sizes();
      if (own)
        inputs[i].copy_(pristine);
      else
        inputs[i] = pristine.clone();
    }
    graph_.use_inputs(inputs);
  }
  std::vector<at::Tensor> recorded_inputs() const {
    return graph_.recorded() ? graph_.inputs_in_use() : std::vector<at::Tensor>{};
  }
  Result<void> call(const std::vector<at::Tensor>& inputs) {
    if (!graph_.recorded()) return graph_.plan().run();
    graph_.recorded()->call(inputs);
    return {};
  }
  /// us of a call; nullopt: to be timed again.
  Result<std::optional<double>> timed_call() {
    const std::vector<at::Tensor> inputs = recorded_inputs();
    std::vector<std::vector<c10::IValue>> kept(static_cast<size_t>(together_));
    const Deferring deferring(graph_.fused(), together_ > 1 && graph_.hands_over());
    const CounterOff counter_off(graph_.gives_way());
    clock_->start();
    const Result<void> done = calls(inputs, kept);
    const std::optional<double> time_us = clock_->stop();
    if (!done) return done.error();
    if (!time_us) return std::optional<double>();
    return *time_us / static_cast<double>(together_);
  }
  /// kept: outputs of each of them but a single one, so that their kernels write to memory of their own.
  Result<void> calls(const std::vector<at::Tensor>& inputs, std::vector<std::vector<c10::IValue>>& kept) {
    if (kept.size() == 1) return call(inputs);
    for (std::vector<c10::IValue>& of_call : kept) {
      PASSNET_TRY_VOID(call(inputs));
      of_call = outputs();
    }
    if (graph_.fused().deferring) graph_.fused().host()->finish();
    return {};
  }
  std::vector<c10::IValue> outputs() const {
    return graph_.recorded() ? graph_.recorded()->outputs() : graph_.plan().outputs();
  }
  void release() {
    graph_.plan().release();
    if (graph_.recorded()) graph_.recorded()->release();
  }

  LoadedGraph& graph_;
  const protocol::Time& options_;
  std::vector<at::Tensor> working_;  // taken by calls on the same tensors
  int64_t together_ = 1;             // calls between two readings of the clock
  std::unique_ptr<CallClock> clock_;
  protocol::CallTimes times_;
};

}  // namespace

Result<protocol::CallTimes> time_calls(LoadedGraph& graph, const protocol::Time& options) {
  TimedCalls timed(graph, options);
  PASSNET_TRY_VOID(timed.check());
  PASSNET_TRY_VOID(timed.initialize());
  PASSNET_TRY_VOID(timed.run_trials());
  timed.finish();
  return timed.summarize();
}

Result<protocol::ReadClocks::Reply> read_clocks(LoadedGraph& graph, int64_t calls) {
  PASSNET_TRY_VOID(graph.require_inputs());
  PASSNET_TRY_VOID(graph.learn_mutations());
  PASSNET_TRY_VOID(graph.record());
  const std::vector<at::Tensor> inputs = graph.recorded() ? graph.inputs_in_use() : std::vector<at::Tensor>{};
  HostClock host(graph.device());
  const std::unique_ptr<CallClock> device = graph.device().make_span_clock();
  protocol::ReadClocks::Reply readings;
  graph.device().synchronize();
  if (device) device->start();
  for (int64_t i = 0; i < calls; ++i) {
    host.start();
    graph.prepare_call();
    if (graph.recorded()) {
      graph.recorded()->call(inputs);
      graph.recorded()->release();
    } else {
      PASSNET_TRY_VOID(graph.plan().run());
      graph.plan().release();
    }
    readings.calls_us += host.stop().value_or(0);
  }
  if (device) readings.device_us = device->stop();
  return readings;
}

}  // namespace passnet::runtime
