// One graph in the workers: the requests of docs/protocol.md as typed calls.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "graphdir/sample.h"
#include "ir/value.h"
#include "pass/kernel/build.h"
#include "pass/plan/launch_list.h"
#include "protocol/messages.h"
#include "record/input_kinds.h"
#include "record/record.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// The failure of a call whose inputs lead to other shapes than those that launches were made for.
inline constexpr const char* kOtherShapes = "other-shapes";

/// The text as it was read, when there is one, so that a worker's messages point into the user's file.
std::string model_text(const ir::Graph& graph);

/// What the worker says of itself.
using Hello = protocol::Hello::Reply;
Result<Hello> greet(Worker& worker, std::chrono::milliseconds timeout);
/// The same as the first request to a worker, which waits for it to come up. A worker that is lost at that says nothing
/// about a pass: the failure is "resource" (or "interrupted").
Result<Hello> start_up(Worker& worker);

/// What `passnet selftest` switches off in a worker, to see what the other defences hold.
struct CallDefences {
  bool poison = true, canaries = true;
};

/// Returns an array for each list, of its kernels (docs/protocol.md).
Json kernels_to_json(const std::vector<std::vector<pass::BuiltKernel>>& kernels);

/// Loads a graph under `id`; lists and kernels may be empty (no fused nodes). cuda_graph: "off" calls the operators one
/// by one, "auto" and "on" repeat on a GPU what was recorded of one call (docs/protocol.md).
/// defences: which of the candidate's are on.
/// Returns: how many calls can be handed to its kernels at once; 1 when the graph does more than launch kernels.
Result<int64_t> load_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                           const std::vector<pass::LaunchList>& lists,
                           const std::vector<std::vector<pass::BuiltKernel>>& kernels,
                           std::chrono::milliseconds timeout, const std::string& cuda_graph = "off",
                           CallDefences defences = {});

/// Loads a graph under `id` in a candidate in Python, which applies the passes of these files, in their order.
/// Returns: what became of each pass. Errors: "bad-pass" at a line of a pass, "untraceable", …
Result<std::vector<record::PassOutcome>> load_in_python(Worker& worker, const std::string& id, const ir::Graph& graph,
                                                        const std::vector<std::filesystem::path>& passes,
                                                        std::chrono::milliseconds timeout);

/// The inputs replayed from the graph's metas, which are set for it from now on. REQUIRES: it is loaded under `id`.
/// input_kind: the values that take their place (record/input_kinds.h). keep: where there is room, they are found when they are
/// asked for once more, with what a run on them gave.
Result<Bundle> replay_inputs(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                             std::chrono::milliseconds timeout, const std::string& input_kind = record::kRecordedKind,
                             bool keep = false);

/// The same, set in place of the inputs until restore_inputs(), without being carried anywhere: every worker that is asked
/// draws the same by itself.
Result<void> draw_inputs(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                         std::chrono::milliseconds timeout, const std::string& input_kind, bool keep = false);
/// Those that were set before draw_inputs(), replay_inputs() with a profile, or set_inputs() with `replace`.
Result<void> restore_inputs(Worker& worker, const std::string& id, std::chrono::milliseconds timeout);
/// The same of the reference, which also forgets what was judged and timed there, as if the graph had been run once.
Result<void> rewind(Worker& reference, const std::string& id, std::chrono::milliseconds timeout);

/// Inputs that are set for one graph, for another one in the same worker.
Result<void> share_inputs(Worker& worker, const std::string& id, const std::string& from,
                          std::chrono::milliseconds timeout);
/// replace: until restore_inputs() alone.
Result<void> set_inputs(Worker& worker, const std::string& id, const Bundle& inputs, std::chrono::milliseconds timeout,
                        bool replace = false);

/// What is known of each node's value, by node id; None also where none was computed.
using Values = ir::Values;

/// Types of all values by node id of `graph` (which must be what was loaded under `id`), as one call makes them; with
/// statistics for the nodes named in `measured`.
Result<Values> trace_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                           std::chrono::milliseconds timeout, const std::vector<std::string>& measured = {});

/// The same without running: inferred from the records, those of the graph or others. Unknown where a type depends on
/// data; of `graph`, which is what was loaded under `id` or whose names that has among its own.
Result<Values> infer_types(Worker& worker, const std::string& id, const graphdir::GraphDir& graph,
                           std::chrono::milliseconds timeout);
Result<Values> infer_types(Worker& worker, const std::string& id, const ir::Graph& graph, const graphdir::Metas& metas,
                           std::chrono::milliseconds timeout);

struct Outputs {
  Bundle tensors;        // "out_0", …; outputs that are not tensors are absent. No descriptor: in a room
  IndirectJson scalars;  // {"out_1": 3}
  IndirectJson inputs =
      IndirectJson::array();  // tensors of the same memory: inputs that the call changed, as it left them
  std::vector<record::Layout> layouts = {};  // by output
  uint64_t rows_seed = 0;                    // of the rows that large tensors are here
};
Result<Outputs> run_graph(Worker& worker, const std::string& id, bool checked, std::chrono::milliseconds timeout);

/// Room on the reference's GPU for as much as its last run gave, kept there as long as the graph.
Result<wire::DeviceRoom> make_room(Worker& reference, const std::string& id, std::chrono::milliseconds timeout);
/// A checked run. Its outputs lie in the room if they fit, where compare_outputs() and judge_outputs() look until the next.
Result<Outputs> run_into(Worker& candidate, const std::string& id, const wire::DeviceRoom& room,
                         std::chrono::milliseconds timeout);

/// A checked run of which judge_outputs() alone will look at the outputs: of large tensors some rows.
Result<Outputs> run_for_rows(Worker& worker, const std::string& id, std::chrono::milliseconds timeout);
/// A run whose outputs are kept in the worker alone. again: false where those that it keeps of a run on the same inputs
/// will do. Returns: how each lies in memory, as Outputs::layouts.
Result<std::vector<record::Layout>> run_alone(Worker& worker, const std::string& id, bool checked,
                                              std::chrono::milliseconds timeout, bool again = true);

/// Fills the output checks of `record` from a comparison on the reference worker.
Result<void> compare_outputs(Worker& reference, const std::string& id, const Outputs& found, record::RunRecord& record,
                             std::chrono::milliseconds timeout);

/// Outputs of a call, compared with the graph at float64.
using Judged = protocol::Judge::Reply;
/// found: of the candidate's run on the inputs of the reference's last run. float64: the id that the graph is loaded as at
/// float64; empty: there is none.
Result<Judged> judge_outputs(Worker& reference, const std::string& id, const std::string& float64, const Outputs& found,
                             const std::string& input_kind, std::chrono::milliseconds timeout);

/// Asks whether the outputs of the reference's last run, in the shapes that they have, depend on the contents of an input.
Result<bool> depends_on(Worker& reference, const std::string& id, const std::string& input,
                        std::chrono::milliseconds timeout);

/// Sets of inputs for timed calls, in memory that both workers see.
struct CallSets {
  IndirectJson tensors;  // of set 0
  int64_t stride = 0, sets = 0;
  UniqueFd fd;
};
/// Makes room in the reference for `wanted` sets or as many as its memory allows. whole: with all their tensors, for a
/// candidate that does not put large ones together itself. REQUIRES: inputs are set there.
Result<CallSets> make_call_sets(Worker& reference, const std::string& id, int64_t wanted,
                                std::chrono::milliseconds timeout, bool whole = false);
/// Draws the first `calls` sets anew; draw: false fills them with the inputs that are set.
Result<void> renew_call_sets(Worker& reference, const std::string& id, uint64_t seed, int64_t calls,
                             std::chrono::milliseconds timeout, bool draw = true);
Result<void> set_call_sets(Worker& worker, const std::string& id, const CallSets& sets,
                           std::chrono::milliseconds timeout);

/// Checks of a graph's outputs and of the inputs that a call changes, the worst of all compared calls.
using CallChecks = protocol::CallChecks;
/// Compares what calls of the candidate gave, `found`, with the reference's own on the same sets, and keeps the worse of
/// each output in `checks`.
Result<void> compare_calls(Worker& reference, const std::string& id, const Outputs& found, CallChecks& checks,
                           std::chrono::milliseconds timeout);

/// us by list and launch, each the median over `calls` calls. lists: what was loaded under `id`.
Result<std::vector<std::vector<double>>> time_launches(Worker& worker, const std::string& id,
                                                       const std::vector<pass::LaunchList>& lists, int calls,
                                                       std::chrono::milliseconds timeout);

/// Where the time of a call goes, over `calls` calls. graph and lists: what was loaded under `id`.
Result<record::Profile> profile_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                                      const std::vector<pass::LaunchList>& lists, int calls,
                                      std::chrono::milliseconds timeout);

/// Frees what was loaded under `id`, if the worker lives; one that is lost over this is seen to be lost by whoever asks
/// it next. Returns the device memory of the worker since the last time; zeros on the CPU and of a lost worker.
record::DeviceMemory forget_graph(Worker& worker, const std::string& id, std::chrono::milliseconds timeout);

}  // namespace passnet::run
