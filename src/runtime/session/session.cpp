#include "runtime/session/session.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/hash.h"
#include "base/strings.h"
#include "fx/parser.h"
#include "runtime/gpu/capture.h"
#include "runtime/gpu/clock.h"
#include "runtime/gpu/compare.h"
#include "runtime/gpu/gpu.h"
#include "runtime/infer/inputs.h"
#include "runtime/infer/meta_kernels.h"
#include "runtime/kernels/fused.h"
#include "runtime/kernels/kernel_check.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/profile.h"
#include "runtime/tensor/allocator.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/share.h"
#include "runtime/tensor/statistics.h"
#include "runtime/tensor/written_pages.h"

namespace passnet::runtime {

/// An output of a call: a tensor, or the VALUE of what is none; neither: there is no such output.
struct CallOutput {
  at::Tensor tensor;
  Json scalar;
};

namespace {

std::unique_ptr<ThreadPool>& pool() {
  static std::unique_ptr<ThreadPool> instance;
  return instance;
}

Json meta_json(const at::Tensor& tensor) {
  return {{"dtype", std::string(ir::name(dtype_of(tensor.scalar_type())))},
          {"shape", tensor.sizes().vec()},
          {"strides", tensor.strides().vec()}};
}

/// VALUE of docs/protocol.md.
Json value_json(const c10::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    // What passes between operators may be of a kind that has no VALUE.
    const bool known = tensor.defined() && tensor.layout() == at::kStrided && has_dtype(tensor.scalar_type());
    return known ? meta_json(tensor) : Json{{"none", true}};
  }
  if (value.isInt()) return {{"int", value.toInt()}};
  if (value.isDouble()) return {{"float", value.toDouble()}};
  if (value.isBool()) return {{"bool", value.toBool()}};
  Json list = Json::array();
  if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) list.push_back(value_json(element));
  } else if (value.isTensorList()) {
    for (const at::Tensor& element : value.toTensorVector()) list.push_back(value_json(element));
  } else if (value.isIntList()) {
    for (const int64_t element : value.toIntVector()) list.push_back({{"int", element}});
  } else {
    return {{"none", true}};
  }
  return {{"list", list}};
}

/// A hash over the bits of all tensors among the values, types and shapes included.
uint64_t fingerprint_of(const std::vector<c10::IValue>& values) {
  uint64_t hash = 0;
  for (const c10::IValue& value : values) {
    if (!value.isTensor()) continue;
    const at::Tensor tensor = value.toTensor().contiguous();
    hash = fast_hash(tensor.sizes().data(), tensor.sizes().size() * sizeof(int64_t),
                     hash + static_cast<uint64_t>(tensor.scalar_type()));
    hash = fast_hash(tensor.const_data_ptr(), static_cast<size_t>(tensor.nbytes()), hash);
  }
  return hash;
}

/// "int", "list": what stands for the element type of an output that is not a tensor.
std::string type_name(const CallOutput& output) {
  if (output.tensor.defined()) return std::string(ir::name(dtype_of(output.tensor.scalar_type())));
  return output.scalar.is_object() && !output.scalar.empty() ? output.scalar.begin().key() : "";
}

record::OutputCheck check_output(const CallOutput& expected, const CallOutput& found) {
  if (expected.tensor.defined() && found.tensor.defined()) return compare_tensors(expected.tensor, found.tensor);
  record::OutputCheck check;
  check.expected_dtype = type_name(expected);
  check.found_dtype = type_name(found);
  if (expected.tensor.defined()) check.expected_shape = expected.tensor.sizes().vec();
  if (found.tensor.defined()) check.found_shape = found.tensor.sizes().vec();
  check.equal = !check.expected_dtype.empty() && !expected.tensor.defined() && !found.tensor.defined() &&
                expected.scalar == found.scalar;
  if (check.equal) {
    check.passes_from = -10;
  } else {
    check.max_abs_diff = check.mean_abs_diff = check.max_rel_diff = std::numeric_limits<double>::quiet_NaN();
  }
  return check;
}

/// Bundles up to this size are copied when they are set; larger ones are mapped a second time.
constexpr int64_t kCopiedAtOnce = int64_t{256} << 20;

/// The tensor at the same place of another mapping of the same memory.
at::Tensor moved_view(const at::Tensor& tensor, const wire::Mapping& from, const wire::Mapping& to) {
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  // An empty tensor may have no data at all.
  std::byte* place = tensor.numel() == 0 ? to.data() : to.data() + (data - from.data());
  return at::from_blob(place, tensor.sizes(), tensor.options());
}

}  // namespace

Result<void> start_runtime(int threads, const std::vector<int>& processors, std::optional<int> gpu_index) {
  install_allocator();
  c10::SetStackTraceFetcher([] { return std::string(); });  // our messages have the graph's line instead
  at::set_num_threads(threads);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  pool() = std::make_unique<ThreadPool>(threads, processors);
  const c10::InferenceMode mode;
  // The first product and the first generator cost milliseconds that belong to no graph.
  (void)at::matmul(at::ones({8, 8}), at::ones({8, 8}));
  // MKL's vector functions choose their code at the first call. When two threads make it at the same time, one of them
  // computes with fewer digits: sin was wrong by 1.5e-4 in half of the elements in one process of thirty.
  (void)at::sin(at::ones({8}));
  if (gpu_index) {
    PASSNET_TRY(const c10::Device device, gpu::start(*gpu_index));
    set_graph_device(device);
  }
  seed_generators(kCallSeed);
  return {};
}

std::string device_name() { return graph_device().is_cuda() ? gpu::name() : ""; }
std::string device_architecture() { return graph_device().is_cuda() ? gpu::architecture() : ""; }

std::optional<DeviceMemory> trim_memory() {
  if (cached_bytes() > int64_t{1} << 30) drop_large_blocks();
  if (!on_gpu()) return std::nullopt;
  const gpu::MemoryUse use = gpu::give_back_memory();
  return DeviceMemory{use.peak_bytes, use.kept_bytes};
}

bool on_gpu() { return graph_device().is_cuda(); }
bool gpu_has_stopped() { return on_gpu() && gpu::has_stopped(); }

std::string torch_version() { return TORCH_VERSION; }
int thread_count() { return pool() ? pool()->threads() : 1; }

struct Session::State {
  const bool on_gpu = graph_device().is_cuda();
  std::unique_ptr<FusedLibrary> fused;  // outlives the plan, whose steps refer to it
  KernelCheck check;
  std::optional<Plan> plan;
  wire::Mapping memory;              // of `pristine`
  wire::Mapping working_memory;      // of the plan's inputs, when the bundle is large
  std::vector<at::Tensor> pristine;  // inputs as set
  std::vector<size_t> mutated;       // inputs that a call changes
  bool mutated_known = false;
  wire::Mapping expected_memory;
  std::vector<CallOutput> expected;  // outputs of the last run
  uint64_t fingerprint = 0;
  std::vector<at::Tensor> checked_outputs;  // of the last run, on the GPU, where that is cheaper to compare than a hash
  int64_t peak_bytes = 0;                   // of the last call

  Recording recording = Recording::Off;
  std::unique_ptr<gpu::RecordedCall> recorded;  // of a graph on the GPU that is repeated as recorded
  std::optional<Error> refused_recording;
  std::vector<std::vector<at::Tensor>>
      input_sets;  // copies of the inputs that timed calls on fresh tensors take in turn

  void restore(size_t index) {
    const at::Tensor& input = plan->input(index);
    if (input.sizes() == pristine[index].sizes() && input.is_contiguous()) {
      // By the operators' own threads, so that the data lies in their caches as after any other operator.
      input.copy_(pristine[index]);
    } else {
      plan->set_input(index, pristine[index].clone());
    }
  }
  void prepare_call() {
    for (const size_t index : mutated) restore(index);
    seed_generators(kCallSeed);
  }
  /// One call in the given mode. Throws KernelFault.
  Result<void> call(FusedLibrary::Mode how, const Plan::NodeVisitor* visit = nullptr) {
    prepare_call();
    fused->mode = how;
    try {
      const int64_t before = start_peak();
      Result<void> done = visit != nullptr ? plan->run_visiting(*visit) : plan->run();
      peak_bytes = peak_bytes_since_start() - before;
      if (on_gpu) gpu::synchronize();
      fused->mode = FusedLibrary::Mode::Run;
      return done;
    } catch (...) {
      fused->mode = FusedLibrary::Mode::Run;
      plan->release();
      throw;
    }
  }
  /// Finds out which inputs the graph's own operators change, with one call. Kernels may change none, so
  /// theirs run on checked copies here.
  Result<void> learn_mutations() {
    if (mutated_known) return {};
    PASSNET_TRY_VOID(call(fused->size() > 0 && can_launch() ? FusedLibrary::Mode::Check : FusedLibrary::Mode::Trace));
    plan->release();
    note_mutations();
    return {};
  }
  /// The outputs of a run, for comparisons with another worker's: those that were shared are not copied
  /// again.
  Result<void> keep_expected(const SharedTensors& shared) {
    const int64_t size = shared.entries.empty() ? 0 : shared.entries.back().offset + shared.entries.back().size_bytes();
    PASSNET_TRY(expected_memory, wire::Mapping::map(shared.memory.get(), size, false));
    const std::vector<at::Tensor> tensors = view_shared(shared.entries, expected_memory);
    size_t next = 0;
    for (CallOutput& output : expected) {
      if (output.scalar.is_null()) output.tensor = tensors[next++];
    }
    return {};
  }
  /// After the first call since the inputs were set.
  void note_mutations() {
    for (size_t i = 0; i < pristine.size(); ++i) {
      if (!is_unchanged(i)) mutated.push_back(i);
    }
    mutated_known = true;
  }
  bool is_unchanged(size_t index) const {
    const at::Tensor& input = plan->input(index);
    // Where pages are copied when written, most inputs need not be read: the kernel knows that they are as
    // set.
    if (working_memory.size_bytes() > 0 && input.is_contiguous() && input.sizes() == pristine[index].sizes() &&
        has_written_pages(input.const_data_ptr(), static_cast<int64_t>(input.nbytes())) == false)
      return true;
    return same_bytes(input, pristine[index]);
  }
  /// False for a graph that was loaded to be traced only.
  bool can_launch() const {
    for (size_t i = 0; i < fused->size(); ++i) {
      if (fused->list(i).kernels.size() != fused->list(i).launches.launches.size()) return false;
    }
    return true;
  }
  std::vector<at::Tensor> inputs_in_use() const {
    std::vector<at::Tensor> inputs;
    for (size_t i = 0; i < pristine.size(); ++i) inputs.push_back(plan->input(i));
    return inputs;
  }
  /// Records what a call does, where that is wanted and possible, once for the inputs that are set.
  Result<void> record() {
    if (!on_gpu || recording == Recording::Off || recorded || refused_recording) return {};
    const std::vector<at::Tensor> working = inputs_in_use();
    const auto run = [this](const std::vector<at::Tensor>& inputs) -> Result<std::vector<c10::IValue>> {
      plan->release();
      for (size_t i = 0; i < inputs.size(); ++i) plan->set_input(i, inputs[i]);
      PASSNET_TRY_VOID(plan->run(true));
      return plan->outputs();
    };
    // What the first call loads and tunes must not be recorded.
    prepare_call();
    PASSNET_TRY_VOID(plan->run());
    plan->release();
    gpu::make_room();
    Result<std::unique_ptr<gpu::RecordedCall>> made = gpu::RecordedCall::record(run, pristine);
    plan->release();
    for (size_t i = 0; i < working.size(); ++i) plan->set_input(i, working[i]);
    gpu::make_room();
    if (made)
      recorded = std::move(*made);
    else if (recording == Recording::On)
      return made.error();
    else
      refused_recording = made.error();
    return {};
  }
  Result<void> require_inputs() const {
    if (pristine.size() != plan->input_names().size() || (pristine.empty() && !plan->input_names().empty()))
      return bad_input("the graph's inputs are not set").with_hint("send 'set_inputs' first");
    return {};
  }
  /// A kernel may not write to its inputs, in timed calls either.
  void require_inputs_unchanged() const {
    if (fused->size() == 0) return;
    for (size_t i = 0; i < pristine.size(); ++i) {
      if (std::find(mutated.begin(), mutated.end(), i) != mutated.end() || is_unchanged(i)) continue;
      throw KernelFault{"input-changed",
                        fmt::format("a kernel changed the graph's input '{}' in a timed call", plan->input_names()[i]),
                        {}};
    }
  }
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::load(Source source) {
  const c10::InferenceMode mode;
  auto state = std::make_unique<State>();
  PASSNET_TRY(const ir::Graph graph,
              fx::parse_model(source.file, std::make_shared<const std::string>(std::move(source.model))));
  PASSNET_TRY(state->fused, FusedLibrary::load(std::move(source.launch_lists), source.kernels, pool().get()));
  state->fused->check = &state->check;
  PASSNET_TRY(state->plan, Plan::build(graph, state->fused.get()));
  state->recording = source.recording;
  return Session(std::move(state));
}

bool Session::has_kernels() const { return state_->fused->size() > 0 && state_->can_launch(); }

size_t Session::operator_calls() const { return state_->plan->operator_calls(); }

Result<void> Session::set_inputs(const std::vector<wire::Entry>& entries, wire::Mapping mapping, int fd) {
  const c10::InferenceMode mode;
  State& state = *state_;
  const std::vector<at::Tensor> given = view_shared(entries, mapping);
  std::vector<at::Tensor> ordered;
  for (const std::string& name : state.plan->input_names()) {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const wire::Entry& entry) { return entry.name == name; });
    if (found == entries.end()) {
      std::vector<std::string> names;
      for (size_t i = 0; i < std::min<size_t>(entries.size(), 8); ++i) names.push_back(entries[i].name);
      if (entries.size() > names.size()) names.emplace_back("…");
      return bad_input(fmt::format("no tensor for argument '{}' of forward", name))
          .with_hint("given: " + join(names, ", "));
    }
    ordered.push_back(given[static_cast<size_t>(found - entries.begin())]);
  }
  wire::Mapping working_memory;
  if (state.on_gpu) {
    for (at::Tensor& tensor : ordered) tensor = tensor.to(graph_device());
    for (size_t i = 0; i < ordered.size(); ++i) state.plan->set_input(i, ordered[i].clone());
  } else if (mapping.size_bytes() > kCopiedAtOnce) {
    PASSNET_TRY(working_memory, wire::Mapping::map_copy_on_write(fd, mapping.size_bytes()));
    for (size_t i = 0; i < ordered.size(); ++i)
      state.plan->set_input(i, moved_view(ordered[i], mapping, working_memory));
  } else {
    for (size_t i = 0; i < ordered.size(); ++i) state.plan->set_input(i, ordered[i].clone());
  }
  state.working_memory = std::move(working_memory);
  state.memory = std::move(mapping);
  state.pristine = std::move(ordered);
  state.mutated.clear();
  state.mutated_known = false;
  state.expected.clear();
  state.recorded.reset();
  state.refused_recording.reset();
  state.input_sets.clear();
  return {};
}

Result<Json> Session::trace(const std::vector<std::string>& measured) {
  const c10::InferenceMode mode;
  State& state = *state_;
  PASSNET_TRY_VOID(state.require_inputs());
  PASSNET_TRY_VOID(state.learn_mutations());
  Json values = Json::object();
  std::vector<std::string_view> wanted(measured.begin(), measured.end());
  std::sort(wanted.begin(), wanted.end());
  const Plan::NodeVisitor visit = [&](const ir::Node& node, const c10::IValue& value) {
    Json& told = values[std::string(node.name)] = value_json(value);
    // What a vmap stands for has no memory of its own.
    const bool measurable = told.contains("shape") && value.toTensor().has_storage();
    if (measurable && std::binary_search(wanted.begin(), wanted.end(), node.name))
      told["statistics"] = statistics_json(value.toTensor());
  };
  PASSNET_TRY_VOID(state.call(FusedLibrary::Mode::Trace, &visit));
  state.plan->release();
  return values;
}

Result<Json> Session::infer(const std::string& weight_meta, const std::string& input_meta) {
  const c10::InferenceMode mode;
  State& state = *state_;
  meta::register_kernels();
  PASSNET_TRY(const std::vector<at::Tensor> inputs,
              inferable_inputs(weight_meta, input_meta, state.plan->input_names()));
  for (size_t i = 0; i < inputs.size(); ++i) state.plan->set_input(i, inputs[i]);
  state.pristine.clear();
  seed_generators(kCallSeed);
  Json values = Json::object();
  state.plan->infer([&](const ir::Node& node, const c10::IValue* value, const std::string& reason) {
    values[std::string(node.name)] = value != nullptr ? value_json(*value) : Json{{"unknown", reason}};
  });
  return values;
}

Result<CallOutputs> Session::run(bool checked) {
  const c10::InferenceMode mode;
  State& state = *state_;
  PASSNET_TRY_VOID(state.require_inputs());
  // Without kernels the call itself tells what it changes; big graphs are not called twice.
  if (state.fused->size() > 0) PASSNET_TRY_VOID(state.learn_mutations());
  PASSNET_TRY_VOID(state.call(checked ? FusedLibrary::Mode::Check : FusedLibrary::Mode::Run));
  std::vector<c10::IValue> values = state.plan->outputs();
  CallOutputs outputs;
  outputs.peak_bytes = state.peak_bytes;
  outputs.scalars = Json::object();
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
  state.expected.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string name = fmt::format("out_{}", i);
    CallOutput output;
    if (values[i].isTensor() && values[i].toTensor().defined()) {
      names.push_back(name);
      tensors.push_back(values[i].toTensor().cpu());
    } else {
      outputs.scalars[name] = output.scalar = value_json(values[i]);
    }
    state.expected.push_back(std::move(output));
  }
  PASSNET_TRY(outputs.tensors, share(names, tensors));
  state.checked_outputs.clear();
  if (state.on_gpu) {
    for (const c10::IValue& value : values) {
      if (value.isTensor() && value.toTensor().defined())
        state.checked_outputs.push_back(value.toTensor().clone(at::MemoryFormat::Contiguous));
    }
  } else {
    state.fingerprint = fingerprint_of(values);
  }
  values.clear();
  tensors.clear();
  state.plan->release();
  if (!state.mutated_known) state.note_mutations();
  PASSNET_TRY_VOID(state.keep_expected(outputs.tensors));
  return outputs;
}

Result<std::vector<record::OutputCheck>> Session::compare(const std::vector<wire::Entry>& found,
                                                          const wire::Mapping& mapping, const Json& found_scalars) {
  const c10::InferenceMode mode;
  const std::vector<at::Tensor> tensors = view_shared(found, mapping);
  std::vector<record::OutputCheck> checks;
  const size_t expected_count = state_->expected.size();
  for (size_t i = 0; i < std::max(expected_count, found.size() + found_scalars.size()); ++i) {
    const std::string name = fmt::format("out_{}", i);
    const CallOutput expected = i < expected_count ? state_->expected[i] : CallOutput{};
    CallOutput given;
    for (size_t k = 0; k < found.size(); ++k) {
      if (found[k].name == name) given.tensor = tensors[k];
    }
    if (const auto scalar = found_scalars.find(name); scalar != found_scalars.end()) given.scalar = *scalar;
    checks.push_back(check_output(expected, given));
  }
  return checks;
}

Result<Json> Session::profile(int calls) {
  const c10::InferenceMode mode;
  State& state = *state_;
  PASSNET_TRY_VOID(state.require_inputs());
  PASSNET_TRY_VOID(state.learn_mutations());
  PASSNET_TRY(const CallProfile profile,
              profile_calls(*state.plan, *state.fused, calls, [&] { state.prepare_call(); }));
  Json launches = Json::array(), others = Json::array();
  for (const LaunchTime& one : profile.launches)
    launches.push_back(
        {{"list", one.list}, {"launch", one.launch}, {"us", one.us}, {"bytes", one.bytes}, {"bound_us", one.bound_us}});
  for (const NodeTime& one : profile.others) others.push_back({{"node", one.node}, {"us", one.us}});
  return Json{{"call_us", profile.call_us}, {"launches", std::move(launches)}, {"others", std::move(others)}};
}

struct Session::Timer {
  State& state;
  const TimeOptions& options;
  std::vector<at::Tensor> working;  // taken by calls on the same tensors
  std::optional<gpu::DeviceClock> device_clock;

  /// The inputs of call `number`, as they were set. Fresh ones lie elsewhere than those of the two calls before.
  void prepare(int64_t number) {
    if (options.fresh) {
      constexpr size_t kSets = 3;
      if (state.input_sets.empty()) state.input_sets.resize(kSets, working);
      std::vector<at::Tensor>& inputs = state.input_sets[static_cast<size_t>(number) % kSets];
      for (size_t i = 0; i < inputs.size(); ++i) {
        const bool own =
            inputs[i].data_ptr() != working[i].data_ptr() && inputs[i].sizes() == state.pristine[i].sizes();
        if (own)
          inputs[i].copy_(state.pristine[i]);
        else
          inputs[i] = state.pristine[i].clone();
        state.plan->set_input(i, inputs[i]);
      }
    }
    state.prepare_call();
    if (!state.on_gpu) return;
    if (options.flush) gpu::flush_cache();
    gpu::synchronize();
  }
  Result<void> call(const std::vector<at::Tensor>& inputs) {
    if (!state.recorded) return state.plan->run();
    state.recorded->call(inputs);
    return {};
  }
  /// us of a call; nullopt: to be timed again.
  Result<std::optional<double>> timed_call() {
    const std::vector<at::Tensor> inputs = state.recorded ? state.inputs_in_use() : std::vector<at::Tensor>{};
    if (options.device_clock) {
      if (!device_clock) device_clock.emplace();
      device_clock->start();
      PASSNET_TRY_VOID(call(inputs));
      return device_clock->stop();
    }
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    Result<void> done = call(inputs);
    if (state.on_gpu) gpu::synchronize();
    const auto stop = Clock::now();
    if (!done) return done.error();
    return std::optional(std::chrono::duration<double, std::micro>(stop - start).count());
  }
  void release() {
    state.plan->release();
    if (state.recorded) state.recorded->release();
  }
  std::vector<c10::IValue> outputs() const {
    return state.recorded ? state.recorded->outputs() : state.plan->outputs();
  }
};

Result<CallTimes> Session::time(const TimeOptions& options) {
  const c10::InferenceMode mode;
  State& state = *state_;
  if (options.device_clock && !state.on_gpu) return bad_input("only a GPU has a clock of its own");
  PASSNET_TRY_VOID(state.require_inputs());
  PASSNET_TRY_VOID(state.learn_mutations());
  PASSNET_TRY_VOID(state.record());
  CallTimes times;
  times.mode = state.recorded ? state.recorded->mode() : "operators";
  if (state.refused_recording) times.why_not_recorded = state.refused_recording->message;
  times.times_us.reserve(static_cast<size_t>(options.calls));
  Timer timer{state, options, state.inputs_in_use(), {}};
  std::optional<gpu::OutputComparison> comparison;
  if (state.on_gpu && options.fingerprint) comparison.emplace(state.checked_outputs, options.calls);
  for (int64_t i = 0; i < options.calls;) {
    if (options.settle) {
      timer.prepare(i);
      PASSNET_TRY_VOID(timer.call(state.recorded ? state.inputs_in_use() : std::vector<at::Tensor>{}));
      timer.release();
    }
    timer.prepare(i);
    PASSNET_TRY(const std::optional<double> time_us, timer.timed_call());
    if (time_us) {
      times.times_us.push_back(*time_us);
      if (comparison)
        comparison->add(timer.outputs());
      else if (options.fingerprint && fingerprint_of(timer.outputs()) != state.fingerprint)
        ++times.changed;
      ++i;
    }
    timer.release();
  }
  if (comparison) times.changed = comparison->differing();
  state.require_inputs_unchanged();
  if (options.fresh) {
    for (size_t i = 0; i < timer.working.size(); ++i) state.plan->set_input(i, timer.working[i]);
  }
  if (state.on_gpu) {
    const gpu::Condition condition = gpu::condition();
    times.sm_mhz = condition.sm_mhz;
    times.temperature_c = condition.temperature_c;
  }
  return times;
}

}  // namespace passnet::runtime
