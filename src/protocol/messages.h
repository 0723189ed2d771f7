// The requests of workers and their replies, a struct each: docs/protocol.md says how they travel, and its tables follow from
// this file. Values with a format of their own (BUNDLE, VALUE, LAYOUT, …) stay JSON here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/json/json_indirect.h"
#include "base/result.h"
#include "record/input_kinds.h"
#include "record/record.h"

namespace passnet::protocol {

/// Who answers a request.
enum class By { Each, Reference, Candidate, Capture };

struct RequestName {
  const char* name;
  By by = By::Each;
};

/// What goes with a reply: its fields, and descriptors.
template <class Request>
struct Answer {
  typename Request::Reply reply;
  std::vector<UniqueFd> fds = {};
};

/// The reply to a request that only has an effect.
struct Nothing {};

/// The first request.
struct Hello {
  static constexpr RequestName kRequest{"hello"};
  struct Reply {
    std::string torch = {};  // "2.11.0"
    int threads = 1;
    std::string hardware = {};      // "NVIDIA H200"
    std::string architecture = {};  // "sm_90"; empty on the CPU
    std::string isolation = {};     // what confines it, in words
    std::string compiler = {};      // what decides a package besides graph and machine
  };
};

/// Measures how fast the machine copies memory and multiplies matrices.
struct Calibrate {
  static constexpr RequestName kRequest{"calibrate", By::Reference};
  struct Reply {
    std::vector<record::CopySpeed> copies = {};       // [{`bytes`, `gb_per_s`}, …]
    std::vector<record::ProductSpeed> products = {};  // [{`dtype`, `gflop_per_s`}, …]
  };
};

/// Refused with the nearest name where there is no such function or method.
struct CheckTarget {
  static constexpr RequestName kRequest{"check_target", By::Reference};
  std::string target = {};  // "torch.relu"
  bool method = false;      // of a tensor
  using Reply = Nothing;
};

/// Loads a graph. The pidfd of its kernels' process comes with the reply, where they have one.
struct Load {
  static constexpr RequestName kRequest{"load"};
  struct Package {
    std::string path = {};
    IndirectJson inputs = IndirectJson::array();  // [VALUE, …] by argument of forward
    int64_t outputs = 0;                          // tensors that a call returns
  };
  std::string id = {};                                // names the graph in other requests
  std::string file = {};                              // where the text is from
  std::string model = {};                             // the text; `passnet.fused` allowed
  IndirectJson launch_lists = IndirectJson::array();  // by `passnet.fused`
  IndirectJson kernels = IndirectJson::array();  // [[{`object`, `entry`, `parameters`, `sha256`}, …] per list]; Triton:
                                                 // `shared_bytes`, `cluster`; empty: trace only
  std::vector<std::string> passes = {};          // files of passes to apply, for a candidate in Python
  std::optional<Package> package = {};           // called by `passnet.package(outputs, arguments…)`
  std::string cuda_graph = "off";                // "off", "auto", "on"
  bool poison = true, canaries = true;           // false in `selftest` alone
  struct PassOutcome {
    std::string pass = {};
    int matches = 0;
    std::string diagnosis = {};
  };
  struct Reply {
    int64_t operators = 0;
    int64_t calls_at_once = 1;                            // calls that can be handed to the kernels at once
    std::optional<std::vector<PassOutcome>> passes = {};  // of those that were to be applied
  };
};

/// Draws the inputs, which are set from then on. Those of another profile stay until they are restored.
struct Inputs {
  static constexpr RequestName kRequest{"inputs"};
  std::string id = {};
  IndirectJson weight_meta = IndirectJson::array();  // [RECORD, …]; `redraw` in one: "order" or "none"
  IndirectJson input_meta = IndirectJson::array();
  uint64_t seed = 0;
  std::string profile = record::kRecordedKind;  // kind of values
  bool share = true;                            // send them
  bool keep = false;                            // find them when they are asked for once more
  struct Reply {
    std::optional<IndirectJson> tensors = {};  // BUNDLE, with its descriptor
    std::optional<uint64_t> call_seed = {};    // of random operators in calls on them
  };
};

/// Sets inputs: those sent, those of another graph, or those from before a replacement.
struct SetInputs {
  static constexpr RequestName kRequest{"set_inputs"};
  std::string id = {};
  std::optional<IndirectJson> tensors = {};  // BUNDLE, with its descriptor
  bool replace = false;                      // until they are restored
  std::optional<uint64_t> call_seed = {};    // 1024 if absent
  bool restore = false;
  std::string of = {};  // the other graph
  using Reply = Nothing;
};

/// Restores replaced inputs and forgets what was judged and timed since.
struct Rewind {
  static constexpr RequestName kRequest{"rewind", By::Reference};
  std::string id = {};
  using Reply = Nothing;
};

/// Calls the graph without launching kernels.
struct Trace {
  static constexpr RequestName kRequest{"trace", By::Reference};
  std::string id = {};
  std::vector<std::string> measured = {};  // names of nodes whose values have STATISTICS
  struct Reply {
    IndirectJson values = IndirectJson::object();  // VALUE by node
  };
};

/// Infers types from records alone; inputs are forgotten.
struct Infer {
  static constexpr RequestName kRequest{"infer", By::Reference};
  std::string id = {};
  IndirectJson weight_meta = IndirectJson::array();
  IndirectJson input_meta = IndirectJson::array();
  struct Reply {
    IndirectJson values = IndirectJson::object();  // VALUE by node, or {"unknown": "why"}
  };
};

/// Calls the graph once. A candidate on a GPU may get the reference's room, with its descriptor.
struct Run {
  static constexpr RequestName kRequest{"run"};
  std::string id = {};
  bool checked = false;       // on poisoned and fenced memory
  std::string share = "all";  // tensors to send: "all", "some": rows of large ones, "none"
  bool again = true;          // false: what the last run on these inputs gave will do
  std::optional<int64_t> room_bytes = {};
  struct Reply {
    std::optional<IndirectJson> outputs = {};       // BUNDLE of "out_0", …, with its descriptor
    IndirectJson inputs = IndirectJson::array();    // BUNDLE of changed inputs "in_NAME", in the same memory
    IndirectJson scalars = IndirectJson::object();  // VALUE by output that is no tensor
    std::vector<record::Layout> layouts = {};       // LAYOUT by output
    int64_t peak_bytes = 0;                         // most memory of tensors at a time
    uint64_t rows_seed = 0;
    bool in_room = false;  // the tensors lie in the room
  };
};

/// Makes room in the GPU's memory for the candidate's outputs; its descriptor comes with the reply.
struct MakeRoom {
  static constexpr RequestName kRequest{"make_room", By::Reference};
  std::string id = {};
  struct Reply {
    int64_t room_bytes = 0;  // 0: there is none
  };
};

/// Checks of outputs and of changed inputs, the worst of all compared calls.
struct CallChecks {
  int64_t compared = 0;                                          // calls
  std::vector<std::optional<record::OutputCheck>> outputs = {};  // record/record.h; null: no worse than known
  std::map<std::string, record::OutputCheck> inputs = {};        // by name
};

/// Compares what the candidate's run gave with the last run here.
struct Compare {
  static constexpr RequestName kRequest{"compare", By::Reference};
  std::string id = {};
  IndirectJson tensors = IndirectJson::array();  // BUNDLE, with its descriptor
  bool in_room = false;                          // they lie in the room: without one
  IndirectJson scalars = IndirectJson::object();
  std::vector<record::Layout> layouts = {};
  using Reply = CallChecks;
};

/// Compares the same with the graph at float64.
struct Judge {
  static constexpr RequestName kRequest{"judge", By::Reference};
  std::string id = {};
  std::string float64 = {};  // id of the graph at float64; empty: there is none
  IndirectJson tensors = IndirectJson::array();
  bool in_room = false;
  IndirectJson scalars = IndirectJson::object();
  uint64_t rows_seed = 0;
  std::string profile = {};  // as the inputs were drawn
  struct Output {
    std::string name = {};                           // "output 0", "input x"
    std::optional<record::ErrorBudget> budget = {};  // of floating types
    bool differs = false;                            // of all others
  };
  struct Reply {
    std::vector<Output> outputs = {};
    std::vector<std::string> null_models = {};  // that would have passed
    std::string no_float64 = {};                // why the graph could not be computed at float64
  };
};

/// Finds out if other contents of an input give other outputs of the same shapes.
struct DependsOn {
  static constexpr RequestName kRequest{"depends_on", By::Reference};
  std::string id = {};
  std::string input = {};
  struct Reply {
    bool depends = false;
  };
};

struct CallTimes {
  std::vector<double> times_us = {};  // of one call, by reading of the clock
  int64_t changed = 0;                // calls with other outputs than the last run
  std::string mode = {};              // "operators", "direct", "graph", "graph with copies"
  std::string why_not_recorded = {};
  std::optional<int> sm_mhz = {}, temperature_c = {};
};

/// Times calls on the inputs that are set.
struct Time {
  static constexpr RequestName kRequest{"time"};
  std::string id = {};
  int64_t calls = 0;
  bool fingerprint = false;    // hash outputs
  bool settle = false;         // an untimed call before each
  std::string clock = "host";  // "host", "device"
  bool fresh = false;          // inputs at new addresses for each call
  bool flush = false;          // the GPU's cache is emptied before each call
  int64_t together = 1;        // calls between two readings of the clock
  using Reply = CallTimes;
};

/// Makes calls and nothing else, under two clocks.
struct ReadClocks {
  static constexpr RequestName kRequest{"read_clocks"};
  std::string id = {};
  int64_t calls = 0;
  struct Reply {
    double calls_us = 0;                   // of all calls
    std::optional<double> device_us = {};  // the same by the device's clock
  };
};

/// Makes shared memory for sets of inputs.
struct MakeCallSets {
  static constexpr RequestName kRequest{"make_call_sets", By::Reference};
  std::string id = {};
  int64_t sets = 0;    // at most
  bool whole = false;  // false: large tensors are put together by each worker (runtime/session/inputs/call_sets.h)
  struct Reply {
    IndirectJson tensors = IndirectJson::array();  // BUNDLE of set 0, with the descriptor of all
    int64_t stride = 0;                            // bytes from a set to the next
    int64_t sets = 0;
  };
};

/// Draws the first sets anew.
struct RenewCallSets {
  static constexpr RequestName kRequest{"renew_call_sets", By::Reference};
  std::string id = {};
  uint64_t seed = 0;
  int64_t calls = 0;
  bool draw = true;  // false: copies of the inputs that are set
  using Reply = Nothing;
};

/// Hands the sets over, with their descriptor.
struct SetCallSets {
  static constexpr RequestName kRequest{"set_call_sets"};
  std::string id = {};
  IndirectJson tensors = IndirectJson::array();
  int64_t stride = 0;
  int64_t sets = 0;
  using Reply = Nothing;
};

/// Times a call on each of the first sets. Random operators are seeded with `seed` + K 2^32 before the calls from set K on
/// that share a reading.
struct TimeOnSets {
  static constexpr RequestName kRequest{"time_on_sets"};
  std::string id = {};
  int64_t calls = 0;
  int64_t together = 1;
  int64_t settling = 0;  // untimed calls before
  uint64_t seed = 0;
  bool draw = true;
  std::vector<std::string> planted = {};  // inputs that get outliers
  bool wider = false;                     // those get five times their values instead
  bool expected = false;                  // keep outputs for `compare_calls` in place of sending them
  struct Reply {
    CallTimes times = {};
    std::optional<IndirectJson> outputs = {};  // BUNDLE of "K/out_0" and "K/in_NAME" of call K, with its descriptor
    IndirectJson scalars = IndirectJson::object();  // VALUE by "K/out_0"
    uint64_t rows_seed = 0;                         // + K for call K
  };
};

/// Compares what calls of the candidate gave with those kept here.
struct CompareCalls {
  static constexpr RequestName kRequest{"compare_calls", By::Reference};
  std::string id = {};
  IndirectJson tensors = IndirectJson::array();  // BUNDLE, with its descriptor
  IndirectJson scalars = IndirectJson::object();
  uint64_t rows_seed = 0;
  std::vector<int> known = {};      // rung by output that is known
  std::optional<int> allowed = {};  // rung of outputs without a budget
  using Reply = CallChecks;
};

/// Where the time of a call goes.
struct CallProfile {
  struct Launch {
    size_t list = 0, launch = 0;
    double us = 0;        // median over the calls
    int64_t bytes = 0;    // of the tensors that it was given, each once
    double bound_us = 0;  // a copy of as many bytes, half read and half written, with the same threads
  };
  struct Operator {
    std::string node = {};
    double us = 0;
  };
  double call_us = 0;                 // median of the whole call, profiled
  std::vector<Launch> launches = {};  // of passes
  std::vector<Operator> others = {};  // beside the passes; on the CPU alone
};

struct Profile {
  static constexpr RequestName kRequest{"profile"};
  std::string id = {};
  int64_t calls = 0;  // 1 to 10,000
  struct Reply {
    CallProfile profile = {};
  };
};

/// Gives memory back.
struct Unload {
  static constexpr RequestName kRequest{"unload"};
  std::string id = {};
  struct Reply {
    std::optional<record::DeviceMemory> device_memory = {};  // on a GPU
  };
};

/// Makes a package of a graph: `benchmarks/pytorch_worker.py --mode aotinductor`.
struct Package {
  static constexpr RequestName kRequest{"package", By::Candidate};
  std::string model = {};
  std::string file = {};
  IndirectJson inputs = IndirectJson::array();  // BUNDLE without memory, by argument
  std::string path = {};                        // to be written
  struct Reply {
    IndirectJson outputs = IndirectJson::array();  // by output: null for a tensor, else VALUE
  };
};

/// Opens a source of models.
struct Source {
  static constexpr RequestName kRequest{"source", By::Capture};
  std::string from;  // `--from`
  struct Reply {
    std::string source = {};  // as in the journal of captures
    std::string library_version = {}, torch_version = {}, licence = {};
    std::vector<std::string> models = {};  // all names
  };
};

/// Captures a model. Unfinished files lie below `.partial` in `out`.
struct Capture {
  static constexpr RequestName kRequest{"capture", By::Capture};
  std::string model;
  std::string out;           // `--out`
  std::string directory;     // of the model's graphs
  int64_t shapes = 1;        // of inputs, at most
  double seconds = 0;        // at most
  int64_t memory_bytes = 0;  // at most
  struct Reply {
    IndirectJson entry = IndirectJson::object();  // a line of the journal
  };
};

/// Ends the process with code 0.
struct Exit {
  static constexpr RequestName kRequest{"exit"};
  using Reply = Nothing;
};

/// The reply to a request that is refused, beside `ok`: false.
struct Refusal {
  struct Code {
    size_t list = 0, launch = 0;
    uint64_t offset = 0;
  };
  std::string kind = "internal", error = "no reason given";
  std::optional<SourceLoc> at = {};
  std::string hint = {};
  std::string launch = {};        // which, place, grid, arguments: of a launch's fault
  std::optional<Code> code = {};  // of a fault on the CPU: bytes into the loaded object
  bool retry = false, ends_worker = false;
};

// REQUIRES of both: one of the structs above that has `kRequest`, its Reply, or Refusal.
/// A request has "do".
template <class Message>
Json to_json(const Message& message);
/// Errors: BadInput naming the message, the field, what it holds and what was expected.
template <class Message>
Result<Message> from_json(const Json& json);

}  // namespace passnet::protocol
