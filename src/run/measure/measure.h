// The timing protocol: warm up both sides, then alternate short blocks of calls, A B A B …, one side stopped while the
// other is timed. Each call that counts has inputs of its own, drawn for it, and all that the candidate's calls return
// is compared with what the reference's calls returned. A pair of blocks in which another process held a processor that
// a side needed is dropped and repeated.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "record/record.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::run {

struct MeasureOptions {
  int warmup = 25;
  int trials = 100;
  std::chrono::milliseconds timeout{60000};  // per request
  bool on_gpu = false;
  uint64_t seed = 0;         // of the inputs that are drawn for timed calls
  double most_s = 0;         // of a call that takes long fewer are made: trials of one side take about so long; 0: all
  bool other_tracks = true;  // false: of these the first alone, and that for the audit
  bool audit_clocks = true;  // compare the workers' clocks with ours (run/measure/clock_audit.h)
  bool fresh_inputs = true;  // false: timed calls have the contents of the checked one
  /// Floating inputs that get outliers or wider values in some more calls, timed apart: a kernel that takes a look at some of its
  /// values cannot know that the others are alike. Empty: there are no such calls.
  std::vector<std::string> planted = {};
};

/// Tracks of the trials that count, of those on MeasureOptions::planted, and of the same calls timed in other ways
/// afterwards.
inline const record::Track kTrack{"host", "new", "warm"};
inline const std::array<record::Track, 2> kPlantedTracks = {
    {{"host", record::kPlanted, "warm"}, {"host", record::kWider, "warm"}}};
inline const record::Track kOtherCpuTracks[] = {{"host", "same", "warm"}};
inline const record::Track kOtherGpuTracks[] = {{"host", "same", "warm"},
                                                {"host", "fresh", "warm"},
                                                {"host", "fresh", "flushed"},
                                                {"device", "fresh", "warm"},
                                                {"device", "fresh", "flushed"}};

/// A graph that is loaded on a worker, with inputs, and was run once.
struct TimedGraph {
  Worker& worker;
  std::string id;
  int64_t calls_at_once = 1;       // as load_graph() told
  bool puts_sets_together = true;  // false: it must be given all tensors of the sets
};

struct Measured {
  record::Timing reference, candidate;
  bool disturbed = false;  // too few pairs of blocks were free of other processes' work
  record::Load load;
  CallChecks checks;     // of the candidate's timed calls
  int64_t together = 1;  // calls between two readings of the clock
  /// Times of each side, by kPlantedTracks.
  struct Planted {
    std::vector<double> reference_us, candidate_us;
  };
  std::array<Planted, kPlantedTracks.size()> planted;
  int64_t changed_calls = 0;  // of those on the same tensors: whose outputs differed from the checked call's in a bit
};

/// Times a graph on both workers, on inputs drawn for each call. Before a block both sides do the same: they copy each
/// call's inputs to other addresses and wake their threads. Which blocks are kept depends on what the kernel says of
/// waiting threads alone, never on a time that was taken. A candidate that does nothing but launch kernels hands several
/// calls over at once, and both sides' clocks are then read around as many calls.
/// Errors: of either worker; "clock": the clock of one is not ours; "not-at-rest": the candidate used a
/// processor while the reference was timed.
Result<Measured> measure(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& options);

/// The same on the inputs that are set, in every call the same tensors: for a candidate that does not know sets of
/// inputs. Nothing is compared.
Result<Measured> measure_on_same_inputs(const TimedGraph& reference, const TimedGraph& candidate,
                                        const MeasureOptions& options);

/// The first calls of a block wake the thread team and refill the caches the other side emptied; they are not trials.
inline constexpr int kSettlingCalls = 2;

struct BlockOptions {
  int settling = kSettlingCalls;  // untimed calls before the first
  int calls = 0;
  bool settle_each = false;  // one more untimed call before each timed one
  bool fingerprint = false;  // count calls whose outputs differ from those of the last run
  record::Track track = {};
  int64_t together = 1;  // calls between two readings of the clock
  std::chrono::milliseconds timeout{60000};
};

struct TimedBlock {
  std::vector<double> times_us;  // of a call, one per reading, after the settling ones
  int64_t changed = 0;           // calls whose outputs differed from the last run's; 0 without fingerprint
  std::string mode;              // record::Timing::mode
  int sm_mhz = 0, temperature_c = 0;
  std::chrono::nanoseconds wall{0};                // of the whole block, by our clock
  std::optional<std::chrono::nanoseconds> waited;  // for processors that other processes held; none: not known
};

/// Calls a graph in one block. Errors: of the worker; "nonsense" when the times are not as many as the calls.
Result<TimedBlock> time_block(const TimedGraph& graph, const BlockOptions& options);

/// Workers that stand still, all their threads where they are, for as long as this lives. A side that is not timed can
/// neither take processors from the other nor leave them: helper threads that would spin for a while go on spinning at
/// their next turn.
class Stopped {
 public:
  explicit Stopped(std::vector<Worker*> workers);
  ~Stopped();
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  std::vector<Worker*> workers_;
};

/// Lets a worker that is Stopped run while it answers one request; alone: it is Stopped.
class Turn {
 public:
  Turn(Worker& worker, bool alone);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Worker& worker_;
  bool alone_;
};

/// time_block on a worker that is Stopped: it runs for this block alone.
Result<TimedBlock> time_block_alone(const TimedGraph& graph, const BlockOptions& options);

}  // namespace passnet::run
