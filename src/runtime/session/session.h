// What a worker does with one graph: the requests of docs/protocol.md as functions. Free of torch.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "graphdir/meta.h"
#include "pass/plan/launch_list.h"
#include "record/record.h"
#include "runtime/device/device_state.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/device/kernel_file.h"
#include "runtime/tensor/shared_tensors.h"
#include "wire/bundle.h"

namespace passnet::runtime {

struct CallOutputs {
  SharedTensors tensors;   // "out_0", …; outputs that are not tensors are left out
  Json scalars;            // of those, by name
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
};

struct CallTimes {
  std::vector<double> times_us;
  int64_t changed = 0;  // calls whose outputs differ from those of the last run
  std::string mode;     // "operators", or how the recorded call is repeated: "direct", "graph", "graph with copies"
  std::string why_not_recorded;
  DeviceCondition condition;  // after the calls
};

class LoadedGraph;

class Session {
 public:
  struct Source {
    std::string file, model;  // where model.py was read from, and its text
    std::vector<pass::LaunchList> launch_lists;
    std::vector<std::vector<KernelFile>> kernels;  // per list, per launch; empty: trace only
    Recording recording = Recording::Off;
  };
  /// Errors: BadInput and Unsupported at the line of model.py, BadPass for kernels that cannot be loaded.
  static Result<Session> load(Source source);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  size_t operator_calls() const;
  /// Whether kernels of passes are loaded with it.
  bool has_kernels() const;

  /// The tensors every call starts from, by the names in forward's signature. Calls work on copies; those of
  /// a bundle over 256 MiB are made page by page, where a call writes. fd: the memory that `mapping` shows.
  /// Errors: BadInput: an argument of forward without a tensor; Io.
  Result<void> set_inputs(std::vector<wire::Entry> entries, wire::Mapping mapping, UniqueFd fd);
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
  /// One call. checked: fused nodes run on poisoned and fenced memory. Throws KernelFault.
  Result<CallOutputs> run(bool checked);
  /// What another worker's run gave (`outputs` and `scalars`) against the outputs of the last run here: one
  /// check per output in order, as many as the longer side has.
  Result<std::vector<record::OutputCheck>> compare(const std::vector<wire::Entry>& found, const wire::Mapping& mapping,
                                                   const Json& found_scalars);
  /// Where the time of a call goes, over `calls` calls (plan/profile.h): {"call_us", "launches": [{"list", "launch",
  /// "us", "bytes", "bound_us"}], "others": [{"node", "us"}]}. REQUIRES: inputs are set, and the graph was run once.
  Result<Json> profile(int calls);
  /// Calls, each timed by itself. What is not timed: restoring inputs that the graph changes, making fresh ones,
  /// seeding, recording, hashing outputs, freeing them. Throws KernelFault when a kernel changed an input.
  Result<CallTimes> time(const TimeOptions& options);

 private:
  explicit Session(std::unique_ptr<LoadedGraph> graph);
  std::unique_ptr<LoadedGraph> graph_;
};

}  // namespace passnet::runtime
