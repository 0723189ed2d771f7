// The timing protocol: warm up both sides, then alternate short blocks of calls, A B A B …, one side stopped while the
// other is timed. A pair of blocks in which another process held a processor that a side needed is dropped and
// repeated.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "record/record.h"
#include "run/worker/worker.h"

namespace passnet::run {

struct MeasureOptions {
  int warmup = 25;
  int trials = 100;
  std::chrono::milliseconds timeout{60000};  // per request
  bool on_gpu = false;                       // fresh inputs in each call, and the further tracks of kOtherGpuTracks
};

/// On a GPU: how trials are timed, and in which other ways the same calls are timed after them.
inline const record::Track kGpuTrack{"host", "fresh", "warm"};
inline const record::Track kOtherGpuTracks[] = {{"host", "same", "warm"},
                                                {"host", "fresh", "flushed"},
                                                {"device", "fresh", "warm"},
                                                {"device", "fresh", "flushed"}};

/// A graph that is loaded on a worker, with inputs, and was run once.
struct TimedGraph {
  Worker& worker;
  std::string id;
};

struct Measured {
  record::Timing reference, candidate;
  bool disturbed = false;  // too few pairs of blocks were free of other processes' work
  record::Load load;
  int64_t changed_calls = 0;  // timed calls of the candidate whose outputs differed from the checked call
};

/// Times a graph on both workers. Between calls both sides do the same: free outputs, restore inputs, compare outputs
/// with those of the checked call by a hash, and make one call that is not timed, so that every timed call finds what a
/// call leaves behind (calls of 5 ms and more, which notice nothing of it, go without). Which blocks are kept depends
/// on what the kernel says of waiting threads alone, never on a time that was taken.
/// Errors: of either worker.
Result<Measured> measure(const TimedGraph& reference, const TimedGraph& candidate, const MeasureOptions& options);

/// The first calls of a block wake the thread team and refill the caches the other side emptied; they are not trials.
inline constexpr int kSettlingCalls = 2;

struct BlockOptions {
  int settling = kSettlingCalls;  // untimed calls before the first
  int calls = 0;
  bool settle_each = false;  // one more untimed call before each timed one
  bool fingerprint = false;  // count calls whose outputs differ from those of the last run
  record::Track track = {};
  std::chrono::milliseconds timeout{60000};
};

struct TimedBlock {
  std::vector<double> times_us;  // of the calls after the settling ones
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

/// time_block on a worker that is Stopped: it runs for this block alone.
Result<TimedBlock> time_block_alone(const TimedGraph& graph, const BlockOptions& options);

}  // namespace passnet::run
