#include "runtime/session/loaded_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "fx/syntax/parser.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/lower/lower.h"
#include "runtime/tensor/allocator.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/written_pages.h"

namespace passnet::runtime {

Result<std::unique_ptr<LoadedGraph>> LoadedGraph::load(Source source, Device& device) {
  std::unique_ptr<LoadedGraph> loaded(new LoadedGraph(device));
  PASSNET_TRY(
      const ir::Graph graph,
      fx::parse_model(source.file, std::make_shared<const std::string>(std::move(source.model)), source.operators));
  PASSNET_TRY(loaded->fused_, FusedLibrary::load(std::move(source.launch_lists), source.kernels, device));
  if (KernelHost* const host = loaded->fused_->host()) {
    host->poisons = source.poisons;
    host->compares_canaries = source.compares_canaries;
  }
  if (source.package) {
    PASSNET_TRY(loaded->package_, Package::open(std::move(*source.package)));
  }
  PASSNET_TRY(loaded->plan_, Plan::build(graph, kLowerer, loaded->fused_.get(), loaded->package_.get()));
  loaded->recording_ = source.recording;
  return loaded;
}

bool LoadedGraph::can_launch() const { return fused_->size() == 0 || fused_->host() != nullptr; }

namespace {
/// Of the memory that calls may hold, the part that inputs and outputs which are kept for another comparison may take.
constexpr int64_t kKeptShare = 4;

int64_t bytes_of(const at::Tensor& tensor) { return tensor.defined() ? static_cast<int64_t>(tensor.nbytes()) : 0; }
int64_t bytes_of(const std::vector<CallOutput>& outputs) {
  int64_t bytes = 0;
  for (const CallOutput& output : outputs) bytes += bytes_of(output.tensor);
  return bytes;
}
int64_t bytes_of(const std::map<std::string, CallOutput>& inputs) {
  int64_t bytes = 0;
  for (const auto& [name, input] : inputs) bytes += bytes_of(input.tensor);
  return bytes;
}
}  // namespace

int64_t LoadedGraph::KnownInputs::bytes() const {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : set->tensors) bytes += bytes_of(tensor);
  if (!last_run) return bytes;
  bytes += bytes_of(last_run->outputs) + bytes_of(last_run->changed);
  return last_run->exact ? bytes + bytes_of(last_run->exact->outputs) + bytes_of(last_run->exact->inputs) : bytes;
}

void LoadedGraph::use(KnownInputs inputs, CallInputs for_calls) {
  use_inputs(for_calls.working);
  working_memory_ = std::move(for_calls.working_memory);
  pristine_ = std::move(for_calls.pristine);
  known_ = std::move(inputs);
  recorded_.reset();
  refused_recording_.reset();
  fresh_inputs.clear();
}

void LoadedGraph::put_aside() {
  int64_t kept_bytes = known_.bytes();
  for (const auto& [name, other] : kept_) kept_bytes += other.bytes();
  const bool is_kept = !known_.kept_as.empty() && kept_bytes <= device_.room_bytes() / kKeptShare;
  if (!is_kept) known_.last_run.reset();
  if (!replaced_)
    replaced_ = std::move(known_);
  else if (is_kept)
    kept_.insert_or_assign(known_.kept_as, std::move(known_));
  known_ = {};
}

Result<void> LoadedGraph::set_inputs(std::shared_ptr<const InputSet> set, const std::string& kept_as) {
  PASSNET_TRY(CallInputs for_calls, inputs_for(*set, plan_->input_names()));
  kept_.clear();
  replaced_.reset();
  use({std::move(set), kept_as}, std::move(for_calls));
  return {};
}

Result<void> LoadedGraph::replace_inputs(std::shared_ptr<const InputSet> set, const std::string& kept_as) {
  PASSNET_TRY_VOID(require_inputs());
  PASSNET_TRY(CallInputs for_calls, inputs_for(*set, plan_->input_names()));
  put_aside();
  use({std::move(set), kept_as}, std::move(for_calls));
  return {};
}

Result<bool> LoadedGraph::recall_inputs(const std::string& kept_as) {
  const auto found = kept_.find(kept_as);
  if (found == kept_.end()) return false;
  PASSNET_TRY(CallInputs for_calls, inputs_for(*found->second.set, plan_->input_names()));
  KnownInputs recalled = std::move(found->second);
  kept_.erase(found);
  put_aside();
  use(std::move(recalled), std::move(for_calls));
  return true;
}

Result<void> LoadedGraph::restore_inputs() {
  PASSNET_TRY_VOID(require_inputs());
  if (!replaced_) return {};
  PASSNET_TRY(CallInputs for_calls, inputs_for(*replaced_->set, plan_->input_names()));
  KnownInputs replaced = std::move(*replaced_);
  put_aside();
  replaced_.reset();
  use(std::move(replaced), std::move(for_calls));
  return {};
}

Result<void> LoadedGraph::rewind() {
  call_sets.reset();
  expected_calls.clear();
  fresh_inputs.clear();
  earlier.clear();
  null_models.clear();
  budgets.clear();
  PASSNET_TRY_VOID(restore_inputs());
  device_.make_room();
  return {};
}

void LoadedGraph::forget_inputs() {
  pristine_.clear();
  known_ = {};
  replaced_.reset();
  kept_.clear();
}

Result<void> LoadedGraph::require_inputs() const {
  const size_t wanted = plan_->input_names().size();
  if (pristine_.size() != wanted)
    return bad_input("the graph's inputs are not set").with_hint("send 'set_inputs' first");
  return {};
}

std::vector<at::Tensor> LoadedGraph::inputs_in_use() const {
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < pristine_.size(); ++i) inputs.push_back(plan_->input(i));
  return inputs;
}

void LoadedGraph::use_inputs(const std::vector<at::Tensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) plan_->set_input(i, inputs[i]);
}

Result<void> LoadedGraph::learn_mutations() {
  if (known_.mutated_known) return {};
  PASSNET_TRY_VOID(call(fused_->size() > 0 && can_launch() ? FusedLibrary::Mode::Check : FusedLibrary::Mode::Trace));
  plan_->release();
  note_mutations();
  return {};
}

void LoadedGraph::note_mutations() {
  if (known_.mutated_known) return;
  for (size_t i = 0; i < pristine_.size(); ++i) {
    if (!is_unchanged(i)) known_.mutated.push_back(i);
  }
  known_.mutated_known = true;
}

std::map<std::string, CallOutput> LoadedGraph::changed_inputs() const {
  std::map<std::string, CallOutput> changed;
  for (const size_t index : known_.mutated)
    changed.emplace(plan_->input_names()[index], CallOutput{plan_->input(index).clone(), {}});
  return changed;
}

std::vector<LoadedGraph::ChangedInput> LoadedGraph::changed_on_either_side(
    const std::map<std::string, CallOutput>& found) const {
  const std::map<std::string, CallOutput>& changed = last_run_or_none().changed;
  std::vector<ChangedInput> inputs;
  for (size_t i = 0; i < plan_->input_names().size(); ++i) {
    const std::string& name = plan_->input_names()[i];
    const auto mine = changed.find(name), theirs = found.find(name);
    if (mine == changed.end() && theirs == found.end()) continue;
    const CallOutput before{pristine_[i], {}};
    inputs.push_back(
        {name, mine != changed.end() ? mine->second : before, theirs != found.end() ? theirs->second : before});
  }
  return inputs;
}

bool LoadedGraph::is_unchanged(size_t index) const {
  const at::Tensor& input = plan_->input(index);
  // Where pages are copied when written, most inputs need not be read: the kernel knows that they are as set.
  if (working_memory_.size_bytes() > 0 && input.is_contiguous() && input.sizes() == pristine_[index].sizes() &&
      has_written_pages(input.const_data_ptr(), static_cast<int64_t>(input.nbytes())) == false)
    return true;
  return same_bytes(input, pristine_[index]);
}

void LoadedGraph::restore(size_t index) {
  const at::Tensor& input = plan_->input(index);
  if (input.sizes() == pristine_[index].sizes() && input.is_contiguous()) {
    // By the operators' own threads, so that the data lies in their caches as after any other operator.
    input.copy_(pristine_[index]);
  } else {
    plan_->set_input(index, pristine_[index].clone());
  }
}

bool LoadedGraph::hands_over() const {
  return fused_->host() != nullptr && plan_->launches_only() && recorded_ == nullptr;
}

Result<void> LoadedGraph::require_room(int64_t calls) const {
  const KernelHost* const host = fused_->host();
  if (host == nullptr || calls <= static_cast<int64_t>(host->calls_at_a_time())) return {};
  return bad_input(fmt::format("{} calls together: there is room for {}", calls, host->calls_at_a_time()));
}

void LoadedGraph::expect_launches() {
  if (hands_over()) fused_->host()->expect_launches();
}

bool LoadedGraph::gives_way() const { return fused_->host() != nullptr && fused_->host()->gives_way(hands_over()); }

void LoadedGraph::prepare_call() {
  for (const size_t index : known_.mutated) restore(index);
  seed_generators(call_seed());
}

Result<void> LoadedGraph::call(FusedLibrary::Mode mode, const Plan::NodeVisitor* visit) {
  prepare_call();
  fused_->mode = mode;
  try {
    const int64_t before = start_peak();
    const auto run = [&] { return visit != nullptr ? plan_->run_visiting(*visit) : plan_->run(); };
    Result<void> done = run();
    if (!done && mode == FusedLibrary::Mode::Trace && fused_->size() > 0) {
      // Zeros are indices of all tables, but divide no whole numbers.
      prepare_call();
      fused_->traced_element = 1;
      if (Result<void> again = run()) done = std::move(again);
      fused_->traced_element = 0;
    }
    peak_bytes_ = peak_bytes_since_start() - before;
    device_.synchronize();
    fused_->mode = FusedLibrary::Mode::Run;
    return done;
  } catch (...) {
    fused_->mode = FusedLibrary::Mode::Run;
    plan_->release();
    throw;
  }
}

void LoadedGraph::require_inputs_unchanged() const {
  if (fused_->size() == 0) return;
  for (size_t i = 0; i < pristine_.size(); ++i) {
    if (std::ranges::find(known_.mutated, i) != known_.mutated.end() || is_unchanged(i)) continue;
    throw KernelFault{"input-changed",
                      fmt::format("a kernel changed the graph's input '{}' in a timed call", plan_->input_names()[i]),
                      {}};
  }
}

Result<void> LoadedGraph::keep_run(const std::vector<c10::IValue>& values, LastRun run, const SharedTensors* shared) {
  std::vector<at::Tensor> tensors;
  if (shared != nullptr) {
    PASSNET_TRY(tensors, map_shared(*shared));
  }
  size_t next = 0;
  for (CallOutput& output : run.outputs) {
    if (output.tensor.defined()) output.tensor = shared != nullptr ? tensors[next++] : output.tensor.clone();
  }
  run.comparison = device_.compare_with(values);
  known_.last_run = std::move(run);
  return {};
}

void LoadedGraph::keep_exact(CallResult exact) {
  if (known_.last_run && !known_.kept_as.empty()) known_.last_run->exact = std::move(exact);
}

const LoadedGraph::LastRun& LoadedGraph::last_run_or_none() const {
  static const LastRun kNone;
  return known_.last_run ? *known_.last_run : kNone;
}

OutputComparison& LoadedGraph::comparison() { return known_.last_run ? *known_.last_run->comparison : *no_comparison_; }

int64_t LoadedGraph::outputs_bytes() const { return bytes_of(expected()); }

Result<void> LoadedGraph::record() {
  if (recording_ == Recording::Off || recorded_ || refused_recording_ || !device_.can_record()) return {};
  const std::vector<at::Tensor> working = inputs_in_use();
  const auto run = [this](const std::vector<at::Tensor>& inputs) -> Result<std::vector<c10::IValue>> {
    plan_->release();
    use_inputs(inputs);
    PASSNET_TRY_VOID(plan_->run(true));
    return plan_->outputs();
  };
  // What the first call loads and tunes must not be recorded.
  prepare_call();
  PASSNET_TRY_VOID(plan_->run());
  plan_->release();
  device_.make_room();
  Result<std::unique_ptr<RecordedCall>> made = device_.record(run, pristine_);
  plan_->release();
  use_inputs(working);
  device_.make_room();
  if (made)
    recorded_ = std::move(*made);
  else if (recording_ == Recording::On)
    return made.error();
  else
    refused_recording_ = made.error();
  return {};
}

void LoadedGraph::describe_calls(protocol::CallTimes& times) const {
  times.mode = recorded_ ? recorded_->mode() : "operators";
  if (refused_recording_) times.why_not_recorded = refused_recording_->message;
  const DeviceCondition condition = device_.condition();
  times.sm_mhz = condition.sm_mhz;
  times.temperature_c = condition.temperature_c;
}

}  // namespace passnet::runtime
