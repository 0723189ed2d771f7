// The one typed record of a run: one graph, one line of records.jsonl. Written once; verdicts, scores, tables and pages
// are pure functions of it. Everything a later question may need is in here, nothing is parsed from logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace passnet::bench {

/// How far a graph got. The stage of a failure is the first that did not succeed.
enum class Stage { Parse, Inputs, Reference, Match, Build, Load, Run, Compare, Time, Done };
const char* to_string(Stage stage);

/// One output of the graph, candidate against reference.
struct OutputCheck {
  std::string expected_dtype, found_dtype;           // "float32"; found is empty when the output is missing
  std::vector<int64_t> expected_shape, found_shape;
  bool equal = false;                                // all elements bit-equal (as values)
  /// Smallest t in [-10, 5] at which the output passes (expected dtype's ladder); 6: at none. Exact types: -10 or 6.
  int passes_from = 6;
  double max_abs_diff = 0, mean_abs_diff = 0, max_rel_diff = 0;  // nan when not comparable
  bool operator==(const OutputCheck&) const = default;
};

/// How calls are timed. On the CPU there is one way: the host's clock, the same inputs in each call, caches as they are.
struct Track {
  std::string clock = "host";    // host: around the call, until the device is done; device: what the GPU needs, without launching
  std::string inputs = "same";   // same: the same tensors in each call; fresh: at other addresses than in the calls before
  std::string cache = "warm";    // warm: as the call before left it; flushed: the GPU's cache holds nothing of the graph
  bool operator==(const Track&) const = default;
};
/// "host clock, fresh tensors, warm cache"
std::string describe(const Track& track);
struct TrackTimes {
  Track track;
  std::vector<double> trials_us;
  bool operator==(const TrackTimes&) const = default;
};

/// Trial times of one side, in microseconds, in the order they were taken.
struct Timing {
  int warmup = 0;
  std::vector<double> trials_us;  // what is judged and scored; on the GPU with fresh inputs
  Track track = {};               // of trials_us
  std::string mode = {};          // "operators", or how the recorded calls are repeated: "direct", "graph", "graph with copies"
  std::vector<TrackTimes> others = {};  // the same call timed in other ways; GPU only
  int sm_mhz = 0, temperature_c = 0;  // of the GPU after the trials; 0: not known
  bool operator==(const Timing&) const = default;
};

/// GPU memory of one side's process, as PyTorch's allocator took it from the device; contexts and libraries are not in it.
struct DeviceMemory {
  int64_t peak_bytes = 0;  // the most at a time while the graph was evaluated; 0: not known
  int64_t kept_bytes = 0;  // what the process kept after it
  bool operator==(const DeviceMemory&) const = default;
};

/// One place where a pass was found or nearly found.
struct PassOutcome {
  std::string pass;
  int matches = 0;               // sites replaced
  int declined = 0;              // sites the plan declined
  std::string diagnosis;         // nearest miss or reasons of refusal; may be empty
  bool operator==(const PassOutcome&) const = default;
};

struct RunRecord {
  int version = 1;
  std::string sample, graph;     // names, as listed
  std::string compiler = "passes";  // passes | eager
  std::string device = "cpu";
  std::string hardware;          // "Intel(R) Xeon(R) … x 2 threads"
  int threads = 1;
  uint64_t seed = 0;
  std::string started;           // ISO 8601, UTC

  Stage stage = Stage::Parse;    // Done, or where it stopped
  std::string error_kind;        // "bad-pass", "bad-input", …, "crash", "timeout", "unwritten-output", "out-of-bounds",
                                 // "input-changed", "no-match", …; empty when nothing failed
  std::string error;             // the message a person reads; may have several lines

  std::vector<PassOutcome> passes;
  bool outputs_counted = false;  // both sides gave outputs; `outputs` holds max(expected, found) entries
  int expected_outputs = 0, found_outputs = 0;
  std::vector<OutputCheck> outputs;
  bool deterministic = true;     // every timed call gave the bits of the checked call

  Timing reference, candidate;   // empty when not reached
  DeviceMemory reference_memory, candidate_memory;  // GPU only
  std::string retried;           // why it was evaluated anew in fresh workers; empty: it was not
  int rounds = 0;                // how often it was timed: noisy rounds are repeated, the quietest is kept
  double evaluate_seconds = 0;   // wall time spent on this graph
  bool operator==(const RunRecord&) const = default;
};

Json to_json(const OutputCheck& check);
/// A JSON list of checks, as a worker's reply to `compare` and a record's "outputs" hold them. Errors: BadInput.
Result<std::vector<OutputCheck>> output_checks_from_json(const Json& json);

/// Always valid UTF-8 (foreign bytes become U+FFFD), so dumping never throws; nan and infinities as strings. The object
/// also says which passnet wrote it. docs/records.md lists the keys.
Json to_json(const RunRecord& record);
/// Errors: BadInput naming the field, what it holds and what was expected; an unknown version names its writer.
Result<RunRecord> record_from_json(const Json& json);

/// records.jsonl from its text; `file` names it in messages. Blank lines are skipped, and so is a torn last line (one
/// without its newline that cannot be read: killed while writing). Errors: BadInput with line number.
Result<std::vector<RunRecord>> records_from_text(std::string_view text, const std::string& file);
/// The same from a file. Errors: Io, BadInput with line number.
Result<std::vector<RunRecord>> load_records(const std::string& path);

}  // namespace passnet::bench
