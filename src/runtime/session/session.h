// What a worker does with one graph: the requests of docs/protocol.md as functions. Free of torch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/json/json_indirect.h"
#include "base/result.h"
#include "fx/syntax/parser.h"
#include "graphdir/inputs/meta.h"
#include "pass/plan/kernel_file.h"
#include "pass/plan/launch_list.h"
#include "protocol/messages.h"
#include "record/record.h"
#include "runtime/device/device_state.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/plan/package_file.h"
#include "runtime/tensor/shared_tensors.h"
#include "wire/bundle.h"

namespace passnet::runtime {

/// "in_x": the input x after a call.
std::string changed_input_name(const std::string& input);
/// The reverse; nullopt: the name of something else.
std::optional<std::string> changed_input(std::string_view name);

/// Which tensors of a call the peer gets: those that it compares whole, rows of large ones, or none.
enum class Share { All, Some, None };

struct CallOutputs {
  /// "out_0", …; outputs that are not tensors are left out. Then "in_NAME": inputs that the call changed, as it left them.
  SharedTensors tensors;
  uint64_t rows_seed = 0;                    // of the rows that stand for large tensors (runtime/tensor/rows.h)
  IndirectJson scalars;                      // of those that are no tensors, by name
  std::vector<record::Layout> layouts = {};  // by output
  int64_t peak_bytes = 0;  // most memory of tensors that the call held at a time, beside inputs and constants
};

/// Whether calls are recorded once and then repeated, on a device that can (RecordedCall of device/device.h).
enum class Recording { Off, Auto /* where it is possible */, On /* or it is an error */ };

struct TimeOptions {
  int64_t calls = 0;
  bool settle =
      false;  // an untimed call before each timed one: it finds what a call leaves behind, not what a hash does
  bool fingerprint = false;   // hash the outputs of each call
  bool fresh = false;         // each call gets its inputs at other addresses than the calls before it
  bool flush = false;         // the GPU's cache is emptied before each call
  bool device_clock = false;  // time on the GPU alone, else by the host's clock until the device is done
  int64_t together = 1;       // calls between two readings of the clock; 1 for a graph that changes its inputs
};

/// Timed calls on sets of inputs that were drawn for them.
struct FreshOptions {
  int64_t calls = 0;     // one on each of the first sets
  int64_t together = 1;  // calls between two readings of the clock
  int64_t settling = 0;  // untimed calls before the first, on the inputs of the checked call
  uint64_t seed = 0;     // as the sets were renewed with
  bool draw = true;
  std::vector<std::string> planted = {};  // inputs with outliers
};

struct CallTimes {
  std::vector<double> times_us;
  int64_t changed = 0;  // calls whose outputs differ from those of the last run
  std::string mode;     // "operators", or how the recorded call is repeated: "direct", "graph", "graph with copies"
  std::string why_not_recorded;
  DeviceCondition condition;  // after the calls
};

/// Memory for sets of inputs; set k lies k * stride bytes after set 0, whose tensors are `tensors`.
struct SharedSets {
  SharedTensors tensors;
  int64_t stride = 0, sets = 0;
};

/// What calls on sets gave. outputs: of call k "k/out_0", …, and "k/in_NAME": inputs that the graph changed, as they were
/// afterwards.
struct FreshCallTimes {
  CallTimes times;  // times_us: of one call, one per reading of the clock
  CallOutputs outputs;
};

/// Outputs of calls on sets against those of the reference: the worst of each.
struct CallChecks {
  std::vector<std::optional<record::OutputCheck>> outputs;  // absent: no worse than known
  std::vector<std::optional<record::OutputCheck>> inputs;   // those that either side changed, as they were afterwards
  std::vector<std::string> input_names;
  int64_t compared = 0;
};

class LoadedGraph;

class Session {
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
  static Result<Session> load(Source source);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  size_t operator_calls() const;
  /// Whether kernels of passes are loaded with it.
  bool has_kernels() const;
  /// Calls that can be handed to the kernels at once; 1 when the graph does more than launch kernels.
  int64_t calls_at_once() const;
  /// A pidfd of the process that the graph's kernels run in; -1: none.
  int kernel_process() const;

  /// The tensors every call starts from, by the names in forward's signature. Calls work on copies; those of
  /// a bundle over 256 MiB are made page by page, where a call writes. fd: the memory that `mapping` shows.
  /// Errors: BadInput: an argument of forward without a tensor; Io.
  /// replace: until restore_inputs() alone. kept_as: what recall_inputs() finds them by, with what a run on them gave;
  /// empty: they are not kept. call_seed: of random operators in calls on them; none: the usual one.
  Result<void> set_inputs(std::vector<wire::Entry> entries, wire::Mapping mapping, UniqueFd fd,
                          std::optional<uint64_t> call_seed = {}, bool replace = false,
                          const std::string& kept_as = "");
  bool has_inputs() const;
  /// What the inputs were drawn from, so that others can be drawn in the same way.
  void set_metas(graphdir::Metas metas);
  /// Draws values of an input kind (record/input_kinds.h) and sets them in place of the inputs, until restore_inputs(). Every
  /// worker draws the same. REQUIRES: inputs are set. Errors: as replay_inputs().
  Result<void> draw_inputs(const graphdir::Metas& metas, uint32_t seed, const std::string& input_kind,
                           const std::string& kept_as = "");
  /// Sets inputs of that name again, with what was found out of calls on them. Returns: whether they were kept, for
  /// which they may be too large. Errors: as set_inputs().
  Result<bool> recall_inputs(const std::string& kept_as);
  /// The inputs that are set, which lie in shared memory. Errors: BadInput: none are set; Io.
  Result<SharedTensors> share_inputs() const;
  /// Errors: as set_inputs().
  Result<void> restore_inputs();
  /// The same, and forgets what was judged and timed, as if the graph had been run on its inputs and nothing since.
  Result<void> rewind();
  /// Makes room for sets of inputs like those that are set, at most `wanted`. whole: they hold every tensor, for a peer
  /// that cannot draw the large ones itself. REQUIRES: inputs are set. Errors: Resource, Io.
  Result<SharedSets> make_call_sets(int64_t wanted, bool whole = false);
  /// Draws the first `count` of them anew; draw: false fills them with the inputs that are set. Errors: BadInput.
  Result<void> renew_call_sets(uint64_t seed, int64_t count, bool draw = true);
  /// Another worker's sets.
  void set_call_sets(SharedSets sets, wire::Mapping mapping);

  /// The same tensors as another graph's, which are not copied for it again.
  /// Errors: BadInput: they are not set, or an argument of forward is not among them.
  Result<void> set_inputs_of(const Session& other);

  /// VALUE of every node's result, by node name; of the nodes named in `measured` with STATISTICS. Kernels are not
  /// launched.
  /// REQUIRES: inputs are set.
  Result<Json> trace(const std::vector<std::string>& measured = {});
  /// VALUE of every node's result by node name, from the metas alone: types without data. {"unknown": "why"}
  /// where a size depends on data that is not recorded. Inputs that were set are forgotten.
  /// Errors: BadInput with position, an argument without a record.
  Result<Json> infer(const graphdir::Metas& metas);
  /// One call. checked: fused nodes run on poisoned and fenced memory. again: false where what the last run on these
  /// inputs gave will do, with Share::None. Throws KernelFault.
  /// room: of a peer with the same device, which gets all tensors there if they fit. Null: there is none.
  Result<CallOutputs> run(bool checked, Share share = Share::All, bool again = true,
                          const wire::DeviceRoom* room = nullptr);
  /// Room for what another worker's run on the same device gives, kept as long as the graph, without what was left in it
  /// before. REQUIRES: run().
  Result<wire::DeviceRoom> make_room();
  /// What another worker's run gave, shared whole, against the outputs of the last run here: one
  /// check per output in order, as many as the longer side has.
  Result<CallChecks> compare(const SharedTensors& found, const Json& found_scalars,
                             const std::vector<record::Layout>& found_layouts);
  /// The same against error budgets, which the comparison of timed calls goes by from then on. float64: the same graph at
  /// float64; null: there is none. input_kind: what the inputs that are set were drawn from (record/input_kinds.h). rows_seed: as
  /// the other worker told it.
  Result<protocol::Judge::Reply> judge(const SharedTensors& found, const Json& found_scalars, uint64_t rows_seed,
                                       Session* float64, const std::string& input_kind);
  /// Tells whether the outputs of the last run, and the inputs that it changed, depend on what an input holds: some other
  /// contents lead to others of the same shapes, beyond the tolerance at which outputs are called right.
  /// REQUIRES: run(). Errors: BadInput: there is no such input.
  Result<bool> depends_on(const std::string& input);
  /// Where the time of a call goes, over `calls` calls (plan/profile.h). REQUIRES: inputs are set, and the graph was run
  /// once.
  Result<protocol::CallProfile> profile(int calls);
  /// Calls, each timed by itself. What is not timed: restoring inputs that the graph changes, making fresh ones,
  /// seeding, recording, hashing outputs, freeing them. Throws KernelFault when a kernel changed an input.
  Result<CallTimes> time(const TimeOptions& options);
  /// Calls and nothing else, so that whoever asks can tell by a clock of its own whether those here are right: what
  /// time() leaves out is inside the clock. Throws KernelFault when a kernel changed an input.
  Result<protocol::ReadClocks::Reply> read_clocks(int64_t calls);
  /// One timed call on each of the first sets. Throws KernelFault when a kernel wrote beside its buffers.
  Result<FreshCallTimes> time_on_sets(const FreshOptions& options);
  /// The same, and what the calls gave is kept for compare_calls().
  Result<CallTimes> time_expected(const FreshOptions& options);
  /// What another worker's calls on the same sets gave against the last time_expected(). known: by output, the rung that
  /// it is known to pass from. allowed: what other outputs, and inputs, may pass from; none: the best.
  Result<CallChecks> compare_calls(const SharedTensors& found, const Json& found_scalars, uint64_t rows_seed,
                                   const std::vector<int>& known, std::optional<int> allowed);

 private:
  explicit Session(std::unique_ptr<LoadedGraph> graph);
  std::unique_ptr<LoadedGraph> graph_;
};

}  // namespace passnet::runtime
