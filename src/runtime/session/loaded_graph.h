// A graph that is loaded in this worker, with its inputs and what was learnt of its calls. Internal to runtime/
// (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fx/syntax/parser.h"
#include "graphdir/inputs/meta.h"
#include "pass/plan/kernel_file.h"
#include "pass/plan/launch_list.h"
#include "protocol/messages.h"
#include "runtime/device/device.h"
#include "runtime/plan/fused.h"
#include "runtime/plan/package.h"
#include "runtime/plan/package_file.h"
#include "runtime/plan/plan.h"
#include "runtime/session/inputs/call_sets.h"
#include "runtime/session/inputs/input_set.h"
#include "runtime/session/outputs.h"
#include "runtime/tensor/share.h"
#include "wire/bundle.h"

namespace passnet::runtime {

/// The choice to record calls once and then repeat them, on a device that can (RecordedCall of device/device.h).
enum class Recording { Off, Auto /* where it is possible */, On /* or it is an error */ };

class LoadedGraph {
 public:
  struct Source {
    std::string file, model;  // where model.py was read from, and its text
    std::vector<pass::LaunchList> launch_lists;
    std::vector<std::vector<pass::KernelFile>> kernels;  // per list, per launch; empty: trace only
    Recording recording = Recording::Off;
    bool poisons = true, compares_canaries = true;  // as KernelHost has them
    std::optional<PackageFile> package = {};        // what `passnet.package` calls
    fx::Operators operators = fx::Operators::Listed;
  };
  /// Errors: BadInput and Unsupported at the line of model.py, BadPass for kernels that cannot be loaded, BadInput for a
  /// package that cannot.
  static Result<std::unique_ptr<LoadedGraph>> load(Source source, Device& device);

  Device& device() const { return device_; }
  Plan& plan() { return *plan_; }
  const Plan& plan() const { return *plan_; }
  FusedLibrary& fused() { return *fused_; }
  /// False for a graph that was loaded to be traced only.
  bool can_launch() const;

  /// What was kept of others is forgotten.
  /// kept_as: what recall_inputs() finds them by, with what the last run on them gave; empty: they are not kept.
  /// Errors: BadInput: an argument of forward without a tensor; Io.
  Result<void> set_inputs(std::shared_ptr<const InputSet> set, const std::string& kept_as = "");
  /// Seed of random operators before each call on the inputs that are set.
  uint64_t call_seed() const { return known_.set != nullptr ? known_.set->call_seed : kCallSeed; }
  /// Others in their place, until restore_inputs(). Errors: as set_inputs().
  Result<void> replace_inputs(std::shared_ptr<const InputSet> set, const std::string& kept_as = "");
  /// Sets inputs that were set before in place of those that are, if they were kept: as many are as have room.
  /// Returns: whether they are set. Errors: as set_inputs().
  Result<bool> recall_inputs(const std::string& kept_as);
  /// Errors: as set_inputs().
  Result<void> restore_inputs();
  /// The inputs that replace_inputs() replaced, and nothing of what was judged or timed.
  /// Errors: as set_inputs().
  Result<void> rewind();
  /// From now on no inputs are set.
  void forget_inputs();
  /// Null when none are set.
  const std::shared_ptr<const InputSet>& input_set() const { return known_.set; }
  /// Errors: BadInput: they are not set.
  Result<void> require_inputs() const;
  /// The inputs as they were set, and those that the plan reads: calls may change these.
  const std::vector<at::Tensor>& pristine() const { return pristine_; }
  std::vector<at::Tensor> inputs_in_use() const;
  void use_inputs(const std::vector<at::Tensor>& inputs);

  /// Finds out, once, which inputs the graph's own operators change, with one call. Kernels may change none, so theirs
  /// run on checked copies here.
  Result<void> learn_mutations();
  /// Those that a call changes, by index, once that is known.
  const std::vector<size_t>& mutated() const { return known_.mutated; }
  /// The same after a call that was made anyway, the first since the inputs were set.
  void note_mutations();
  /// Copies of those, as the call before left them.
  std::map<std::string, CallOutput> changed_inputs() const;
  /// An input that a call changed here or elsewhere, as each side left it.
  struct ChangedInput {
    std::string name;
    CallOutput mine, theirs;
  };
  /// Those of the last run and those in `found`, by name, in the order of the arguments.
  std::vector<ChangedInput> changed_on_either_side(const std::map<std::string, CallOutput>& found) const;
  /// Makes the inputs that calls change what they were, and seeds the generators.
  void prepare_call();
  /// Whether a call does nothing but hand launches to a process of their own, which takes those of several calls at once.
  bool hands_over() const;
  /// Errors: BadInput: outputs of so many calls cannot be held at a time.
  Result<void> require_room(int64_t calls) const;
  /// Threads that run kernels are awake when such a call begins, as they are in a program that does nothing else, and as
  /// those of operators are from the call before.
  void expect_launches();
  /// Whether this thread is expected to leave its processor to the kernels' process in a call.
  bool gives_way() const;
  /// One call in the given mode, waited for. visit: as Plan::run_visiting. Throws KernelFault.
  Result<void> call(FusedLibrary::Mode mode, const Plan::NodeVisitor* visit = nullptr);
  /// Most memory of tensors that the last call held at a time, beside inputs and constants.
  int64_t peak_bytes() const { return peak_bytes_; }
  /// A kernel may not write to its inputs, in timed calls either. Throws KernelFault.
  void require_inputs_unchanged() const;

  /// What a run gave on the inputs that are set, for comparisons with another worker's and with those of timed calls.
  struct LastRun {
    std::vector<CallOutput> outputs;
    std::map<std::string, CallOutput> changed;  // inputs, as it left them
    std::vector<record::Layout> layouts;        // of the outputs
    int64_t peak_bytes = 0;
    std::unique_ptr<OutputComparison> comparison;
    std::optional<CallResult> exact = {};  // the same at float64, once that was asked for
  };
  /// values: those that the run returned, of which the tensors among its outputs are copied.
  /// shared: all of these, which are not copied again then; null: they are.
  Result<void> keep_run(const std::vector<c10::IValue>& values, LastRun run, const SharedTensors* shared);
  /// Null: there was none since they were set.
  const LastRun* last_run() const { return known_.last_run ? &*known_.last_run : nullptr; }
  /// Keeps what the last run would have given at float64 as long as the run itself.
  void keep_exact(CallResult exact);
  const std::vector<CallOutput>& expected() const { return last_run_or_none().outputs; }
  /// Of these outputs.
  const std::vector<record::Layout>& layouts() const { return last_run_or_none().layouts; }
  /// Of all tensors among them.
  int64_t outputs_bytes() const;
  OutputComparison& comparison();

  /// Records what a call does, where that is wanted and possible, once for the inputs that are set.
  /// Errors: why it could not be recorded, with Recording::On.
  Result<void> record();
  RecordedCall* recorded() const { return recorded_.get(); }
  /// Fills in how timed calls ran, and what the device is like after them.
  void describe_calls(protocol::CallTimes& times) const;

  /// Where another worker leaves what its run gave; no tensor: it has no room here.
  SharedBytes room;

  /// Inputs for timed calls that lie elsewhere than those of the calls before: copies that are taken in turn.
  std::vector<std::vector<at::Tensor>> fresh_inputs;

  graphdir::Metas metas;                // what the inputs were drawn from, where that is known
  std::unique_ptr<CallSets> call_sets;  // inputs of timed calls
  std::vector<CallResult> expected_calls;
  KeptMemory shared_results;             // of timed calls
  std::vector<CallOutput> earlier;       // outputs of the call that was judged last
  std::vector<std::string> null_models;  // that passed in all calls since that on the recorded values
  std::map<std::string, record::Errors>
      budgets;  // how far timed calls may be from eager, by protocol::Judge::Output::name

 private:
  /// Inputs and what is known of calls on them.
  struct KnownInputs {
    std::shared_ptr<const InputSet> set;
    std::string kept_as;
    std::vector<size_t> mutated = {};  // inputs that a call changes
    bool mutated_known = false;
    std::optional<LastRun> last_run = {};

    int64_t bytes() const;
  };

  explicit LoadedGraph(Device& device) : device_(device), no_comparison_(device.compare_with({})) {}
  /// Makes these the inputs that are set. for_calls: of them.
  void use(KnownInputs inputs, CallInputs for_calls);
  /// Moves those that are set away: for restore_inputs(), or among those that are kept.
  void put_aside();
  const LastRun& last_run_or_none() const;
  void restore(size_t index);
  bool is_unchanged(size_t index) const;

  Device& device_;
  std::unique_ptr<FusedLibrary> fused_;  // outlives the plan, whose steps refer to it
  std::unique_ptr<Package> package_;     // the same; null: the graph calls none
  std::optional<Plan> plan_;
  KnownInputs known_;                                // those that are set
  std::optional<KnownInputs> replaced_;              // those that replace_inputs() replaced
  std::map<std::string, KnownInputs> kept_;          // others, by kept_as
  wire::Mapping working_memory_;                     // of the plan's inputs, when the bundle is large
  std::vector<at::Tensor> pristine_;                 // inputs as set
  std::unique_ptr<OutputComparison> no_comparison_;  // where there was no run
  int64_t peak_bytes_ = 0;

  Recording recording_ = Recording::Off;
  std::unique_ptr<RecordedCall> recorded_;  // of a graph that is repeated as recorded
  std::optional<Error> refused_recording_;
};

}  // namespace passnet::runtime
