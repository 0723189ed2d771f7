// What a record was made of: hashes of everything that was read, the options in force and the versions at work. Two
// that are equal describe the same measurement; what differs says why a record no longer stands.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/isolation.h"

namespace passnet::record {

struct RunRecord;

/// RunOptions::host_code of `--host-code fallback`.
inline constexpr const char* kFallbackHostCode = "allow-python";

/// Options that an evaluation is asked for and that its records repeat.
struct CommonOptions {
  std::string compiler = "passes";  // the candidate: passes | eager | inductor (torch.compile) | aotinductor
  std::string cuda_graph = "auto";  // auto | on | off: whether its calls are recorded; off on the CPU
  int threads = 0;                  // 0: all that there are; never in records
  uint64_t seed = 1024;             // of the replayed inputs
  int warmup = 25, trials = 100;    // calls
  double timeout_s = 60;            // seconds for one request to a worker; matters to records that ran into it alone
  bool strict = false;              // upstream's literal matching
  bool generalize = false;          // numbers of patterns that are sizes stand for any size
  bool allow_library = false;       // plans may call PyTorch's operators
  std::string baseline = {};        // what the candidate is timed against; empty: our own eager; "python": PyTorch's
  bool operator==(const CommonOptions&) const = default;
};

/// The options that can change a result, as they were in force.
struct RunOptions : CommonOptions {
  std::string device = "cpu";       // cpu | cuda; which of several equal GPUs it was does not matter
  std::string host_code = {};       // where host code of passes may run: "allow-python", "python"; empty: nowhere
  std::string input_pass_dir = {};  // of the passes that were given, absolute; empty: none
  std::vector<std::string> pass_order = {};  // as asked for; empty: as listed
  std::optional<int> pass_pattern_limit = {}, pass_function_limit = {};
  std::vector<std::string> without = {};  // defences that were off; what was made so is never kept or scored
  bool operator==(const RunOptions&) const = default;
};

struct Provenance {
  /// SHA-256 (64 hex digits) by file name. A file that is absent has no entry.
  using Hashes = std::map<std::string, std::string>;

  std::string sample_path;  // absolute, of the sample's directory; not compared
  Hashes graph;             // model.py, weight_meta.py, input_meta.py
  Hashes passes;            // the list that orders them, and each Name.py in it; none for eager
  Hashes kernels;           // Name.cpp of these on the CPU, Name.cu on a GPU
  Hashes objects;           // the compiled kernels, by launch: what follows from the rest; not compared
  std::string isolation;    // what confined the candidate, in words; empty: it did not come to that; not compared
  RunOptions options;
  std::map<std::string, std::string> versions;    // "passnet", "worker", "torch", "compiler", "hardware": in words
  std::optional<IsolationLevel> isolation_level;  // none: as `isolation`, or of an older version; not compared
  std::string pass_dir = {};  // absolute, where the passes are not those of `sample_path`; not compared
  bool operator==(const Provenance&) const = default;
};

struct Difference {
  enum class Kind { Graph, Pass, Kernel, Option, Version };
  Kind kind = Kind::Graph;
  std::string text;  // "kernel add_layer_norm.cpp changed", "--trials 12, was 100", "torch '2.12.0', was '2.11.0'"
  bool operator==(const Difference&) const = default;
};

/// Empty exactly when both describe the same measurement; sources first, then options, then versions.
std::vector<Difference> differences(const Provenance& then, const Provenance& now);

/// True when a record says nothing about its pass: a worker could not start or was killed from outside, memory or disk
/// was used up, no compiler was there.
bool is_environment_failure(const RunRecord& record);

/// Why a record is measured anew before it may stand for `now`, a phrase each; empty when it stands.
std::vector<std::string> reasons_to_repeat(const RunRecord& record, const Provenance& now);

}  // namespace passnet::record
