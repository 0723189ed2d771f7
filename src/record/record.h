// The one typed record of a run: one graph, one line of records.jsonl. Written once; verdicts, scores, tables and pages
// are pure functions of it. Everything a later question may need is in here, nothing is parsed from logs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "base/text/lines.h"
#include "record/floor.h"
#include "record/provenance.h"

namespace passnet::record {

/// How far a graph got. The stage of a failure is the first that did not succeed.
enum class Stage { Parse, Inputs, Reference, Match, Build, Load, Run, Compare, Time, Done };
const char* to_string(Stage stage);

/// How an output that is not equal differs.
struct Mismatch {
  int64_t beyond = 0;           // elements beyond the tolerance of t = -5, with NaN on either side always
  int64_t different = 0;        // elements with other bits
  std::vector<int64_t> first;   // index of the first that is beyond, by dimension; empty for none and for a scalar
  std::string expected, found;  // its values, as short as they are exact; empty for none
  std::string where;            // where those that are beyond lie (record/wrong_places.h)
  int64_t expected_nan = 0, found_nan = 0, expected_inf = 0, found_inf = 0;
  bool operator==(const Mismatch&) const = default;
};

/// How far values are from what they should be, over the elements of an output that are finite on both sides.
struct Errors {
  double norm = 0;        // Frobenius norm of the differences, of that of the values
  double row = 0;         // largest difference of an element, of the largest value in its row
  double ulp = 0;         // 99.9th percentile of the differences in units in the last place of the element type
  int64_t zeros = 0;      // elements that are 0 where the type holds what they should be
  int64_t misplaced = 0;  // NaN or an infinity where another value belongs, or the reverse
  bool operator==(const Errors&) const = default;
};

/// What an output may lose against the same graph at float64, and what it lost. docs/scoring.md, "Error budgets".
struct ErrorBudget {
  std::string input_kind;  // the values it was computed from: "recorded", "shifted", …, "timed"
  Errors eager;            // of the graph at its own element types
  Errors allowed, found;
  bool kept() const {
    return found.norm <= allowed.norm && found.row <= allowed.row && found.ulp <= allowed.ulp &&
           found.zeros <= allowed.zeros && found.misplaced <= allowed.misplaced;
  }
  bool operator==(const ErrorBudget&) const = default;
};

/// How an output lies in memory, as far as the graph's users can see it.
struct Layout {
  std::vector<int64_t> strides;  // in elements; 0 where the size is 1 or less, which has no stride that matters
  int64_t offset = 0;            // of the first element in its storage, in elements
  std::string shares;            // whose storage it is: "input x", "output 0", an earlier one; empty: its own
  bool operator==(const Layout&) const = default;
};

/// One output of the graph, candidate against reference.
struct OutputCheck {
  std::string expected_dtype, found_dtype;  // "float32"; found is empty when the output is missing
  std::vector<int64_t> expected_shape, found_shape;
  bool equal = false;  // all elements bit-equal (as values)
  /// Smallest t in [-10, 5] at which the output passes (expected dtype's ladder); 6: at none. Exact types: -10 or 6.
  int passes_from = 6;
  double max_abs_diff = 0, mean_abs_diff = 0, max_rel_diff = 0;   // nan when not comparable
  std::optional<Mismatch> mismatch = {};                          // when it was comparable and is not equal
  std::optional<Layout> expected_layout = {}, found_layout = {};  // when they differ
  std::optional<ErrorBudget> budget = {};  // floating types: of the input kind that strains it most
  std::optional<int> checked_from =
      {};  // passes_from of the checked call, where this is of a timed call, which is worse
  bool operator==(const OutputCheck&) const = default;
};

/// An input of the graph after a call, candidate against reference: what a graph changes, passes must change alike.
struct InputCheck {
  std::string name;
  OutputCheck check;
  bool operator==(const InputCheck&) const = default;
};

/// Track::inputs of calls with outliers among the values of their inputs, and of calls on values as wide as their records say.
inline constexpr const char* kPlanted = "planted";
inline constexpr const char* kWider = "wider";

/// How calls are timed.
struct Track {
  std::string clock = "host";  // host: around the call until the device is done; device: the GPU's work, not launching
  /// same: the same tensors in each call; fresh: at other addresses than before; new: drawn for the call, and at other
  /// addresses; planted: as new, with outliers; wider: as new, times five
  std::string inputs = "same";
  std::string cache = "warm";  // warm: as the call before left it; flushed: the GPU's cache holds nothing of the graph
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
  std::vector<double> trials_us;  // what is judged and scored
  Track track = {};               // of trials_us
  /// "operators", or how the recorded calls are repeated: "direct", "graph", "graph with copies"; of PyTorch from Python:
  /// how a module is called, "torch.compile"
  std::string mode = {};
  std::string baseline = {};            // "python": PyTorch eager from Python in place of our own eager
  std::vector<TrackTimes> others = {};  // the same call timed in other ways; GPU only
  int sm_mhz = 0, temperature_c = 0;    // of the GPU after the trials; 0: not known
  std::vector<int> blocks = {};  // trials per block, in order; block i was timed right beside block i of the other side
  bool operator==(const Timing&) const = default;
};

/// What else the machine did while a graph was timed. Shares are of wall time, 1.0 = 100 %.
struct Load {
  bool known = false;     // the kernel tells how long threads wait; else `waiting_share` is 0 and no block was dropped
  int block_pairs = 0;    // pairs of blocks (one per side) that were timed
  int dropped_pairs = 0;  // of these: dropped, as another process held a processor that a side needed
  /// The longest that a thread of a side waited for a processor that another process held, of the time in blocks.
  double waiting_share = 0;
  double stolen_share = 0;    // processor time that the host of a virtual machine gave to others, over all processors
  double pressure_share = 0;  // time in which anything waited for a processor (Linux's pressure stall information)
  int64_t involuntary_switches = 0;  // times a thread of a side was taken off its processor
  bool operator==(const Load&) const = default;
};

/// The A/A control of a sample: the same graph without passes on both sides, timed in the same way. Its ratio tells how
/// far ratios of this run can be trusted.
struct Control {
  Timing reference, candidate;
  bool disturbed = false;  // as RunRecord::disturbed
  bool operator==(const Control&) const = default;
};

/// GPU memory of one side's process, as PyTorch's allocator took it from the device; contexts and libraries are not in
/// it.
struct DeviceMemory {
  int64_t peak_bytes = 0;  // the most at a time while the graph was evaluated; 0: not known
  int64_t kept_bytes = 0;  // what the process kept after it
  bool operator==(const DeviceMemory&) const = default;
};

/// A call of PyTorch in the plan of a pass (`--allow-library`).
struct LibraryCall {
  std::string name;  // "torch.nn.functional.conv2d", "Tensor.sum", "+"
  int line = 0;      // in Name.py or a file beside it
  int count = 0;     // over all sites
  bool operator==(const LibraryCall&) const = default;
};

/// One place where a pass was found or nearly found.
struct PassOutcome {
  std::string pass;
  int matches = 0;                     // sites replaced
  int declined = 0;                    // sites the plan declined
  std::string diagnosis;               // nearest miss or reasons of refusal; may be empty
  std::vector<std::string> idle = {};  // launches that no output depends on, and plans that launch nothing
  std::vector<LibraryCall> library_calls = {};
  int replays = 0;  // of the sites those where no kernel of the pass's own runs: PyTorch computes all of it
  bool operator==(const PassOutcome&) const = default;
};

/// A pass that is listed and was left out.
struct SurplusPass {
  std::string pass;
  std::string reason;  // the limit, and what there was more of
  bool operator==(const SurplusPass&) const = default;
};

/// A launch of a kernel under @triton.autotune: which configuration was the fastest.
struct Tuned {
  std::string pass, kernel;
  int line = 0;                  // of the launch in the pass's Name.py
  int site = 0;                  // the launch list, from 0 in the order of the rewritten graph
  std::string chosen;            // its constants and options: "BLOCK=64 num_warps=2"
  std::vector<double> tried_us;  // median of each configuration that was tried, in the order of the list
  bool operator==(const Tuned&) const = default;
};

/// Where the time of a call with passes goes, by clocks around its parts; the parts are for comparing with each other.
struct Profile {
  struct Launch {
    std::string pass, kernel;
    int line = 0;         // of the launch in the pass's Name.py
    int site = 0;         // the launch list, from 0 in the order of the rewritten graph
    double us = 0;        // median
    int64_t bytes = 0;    // of the tensors it was given, each once
    double bound_us = 0;  // what a copy of as many bytes takes on this machine, with the same threads
    bool operator==(const Launch&) const = default;
  };
  struct Other {
    std::string statement;  // an operator outside the passes, as the graph prints it
    double us = 0;          // median
    bool operator==(const Other&) const = default;
  };
  double call_us = 0;  // median of the whole call, with the clocks in it
  std::vector<Launch> launches;
  std::vector<Other> others;  // on the CPU only
  bool operator==(const Profile&) const = default;
};

/// Another compiler on the same graph, timed against the same reference in the same way.
struct SecondCandidate {
  std::string name;     // "torch.compile"
  std::string problem;  // why it was not timed; empty when it was
  int passes_from = 6;  // the worst rung of its outputs, as OutputCheck::passes_from
  Timing reference, candidate;
  bool disturbed = false;  // as RunRecord::disturbed
  bool operator==(const SecondCandidate&) const = default;
};

/// A record's place in the chain of its sample (record/chain.h).
struct Link {
  int64_t number = 0;    // of the sample's records ever written in this run, from 1
  std::string previous;  // SHA-256 of the line before: of a record, or of the session that began here
  bool operator==(const Link&) const = default;
};

/// RunRecord::fixed_inputs.
inline constexpr const char* kEveryInput = "every input";

/// RunRecord::host_code.
inline constexpr const char* kPythonHostCode = "python";

struct RunRecord {
  int version = 1;
  std::string sample, graph;  // names, as listed
  /// The graph's kind in a dataset: sole_op | fusible | typical | subgraph | full; empty: not known, and in records of
  /// older versions.
  std::string kind = {};
  std::string compiler = "passes";  // passes | eager | inductor | aotinductor
  std::string device = "cpu";
  std::string hardware;  // "Intel(R) Xeon(R) … x 2 threads"
  int threads = 1;
  uint64_t seed = 0;
  bool seed_given = false;  // by --seed; else it came from the system
  std::string seed_nonce;  // 32 hex digits: with it the session's commitment opens to `seed`; empty when that was given
  std::string started;     // ISO 8601, UTC

  Stage stage = Stage::Parse;  // Done, or where it stopped
  std::string error_kind;      // "bad-pass", "bad-input", …, "crash", "timeout", "unwritten-output", "out-of-bounds",
                               // "input-changed", "no-match", "killed", …; empty when nothing failed
  std::string error;           // the message a person reads; may have several lines

  std::string host_code = {};   // "python": host code of the passes ran there, and nothing is ranked; empty: none ran
  std::string why_python = {};  // what our reader said of them; empty: Python was asked for

  std::vector<PassOutcome> passes;
  std::vector<SurplusPass> surplus;  // in the order of their list
  std::vector<Tuned> tuned;          // by @triton.autotune, those of which there were several configurations to try
  bool outputs_counted = false;      // both sides gave outputs; `outputs` holds max(expected, found) entries
  int expected_outputs = 0, found_outputs = 0;
  std::vector<OutputCheck> outputs;
  std::vector<InputCheck> inputs;        // those that either side changed
  std::vector<std::string> input_kinds;  // the input kinds that the outputs were compared on, in order
  std::string no_float64;                // why there was no float64 to compare with; empty: there was
  std::vector<std::string> null_models;  // answers that take no work and would have passed too ("zeros", …)
  /// Inputs that were the same in each comparison though the outputs depend on what they hold; "every input" where none
  /// of them could be drawn anew.
  std::vector<std::string> fixed_inputs;
  int64_t calls_compared = 0;  // timed calls on inputs of their own whose outputs are in `outputs`; 0: the checked call
  bool deterministic = true;   // every call on the inputs of the checked call gave its bits

  Timing reference, candidate;  // empty when not reached
  /// Timed, but too few blocks were free of other processes' work: the times are no measurement and give no speedup.
  bool disturbed = false;
  Load load;
  std::optional<Floor> floor;                       // none: not timed, or in records of older versions
  std::optional<Control> control;                   // of the sample; with the first of its graphs that was timed
  std::optional<Profile> profile;                   // when asked for
  std::optional<SecondCandidate> second_candidate;  // when asked for
  DeviceMemory reference_memory, candidate_memory;  // GPU only
  std::string retried;                              // why it was evaluated anew in fresh workers; empty: it was not
  double evaluate_seconds = 0;                      // wall time spent on this graph
  std::optional<Provenance> provenance;             // none in records of older versions
  Provenance::Hashes texts;                         // of the files beside it: kBeforeFile, …; none in older records
  std::optional<Link> chain;                        // none in records of older versions
  bool operator==(const RunRecord&) const = default;
};

/// Always valid UTF-8 (foreign bytes become U+FFFD), so dumping never throws; nan and infinities as strings. The object
/// also says which passnet wrote it. docs/records.md lists the keys.
Json to_json(const RunRecord& record);
/// Errors: BadInput naming the field, what it holds and what was expected; an unknown version names its writer.
Result<RunRecord> record_from_json(const Json& json);

/// Takes the record of a line.
using UseRecord = std::function<void(uint32_t number, std::string_view line, RunRecord record)>;
/// Hands its argument each line of a file.
using Lines = std::function<Result<void>(const UseLine& use)>;
/// REQUIRES: `text` outlives it.
Lines lines_of(std::string_view text);
/// Records one at a time. Blank lines are skipped, and so is a torn last line (one without its newline that cannot be
/// read: killed while writing). file: as messages name it. Errors: those of `lines`; BadInput with line number.
Result<void> for_each_record(const Lines& lines, const std::string& file, const UseRecord& use);

/// All records of a text, as for_each_record reads them.
Result<std::vector<RunRecord>> records_from_text(std::string_view text, const std::string& file);
/// What that reads back: a line of JSON each.
std::string to_lines(const std::vector<RunRecord>& records);
/// The same from a file. Errors: Io, BadInput with line number.
Result<std::vector<RunRecord>> load_records(const std::string& path);

}  // namespace passnet::record
