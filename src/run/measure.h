// The timing protocol: warm up both sides, then alternate blocks A B B A … with one side asleep while the other is timed.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/record.h"
#include "run/worker.h"

namespace passnet::run {

struct MeasureOptions {
  int warmup = 25;
  int trials = 100;
  std::chrono::milliseconds timeout{60000};  // per request
  bool on_gpu = false;  // fresh inputs in each call, and the further tracks of kGpuTracks
};

/// On a GPU: how trials are timed, and in which other ways the same calls are timed after them.
inline const bench::Track kGpuTrack{"host", "fresh", "warm"};
inline const bench::Track kOtherGpuTracks[] = {
    {"host", "same", "warm"}, {"host", "fresh", "flushed"}, {"device", "fresh", "warm"}, {"device", "fresh", "flushed"}};

/// A round in which a side's quartiles lie more than bench::kNoisy of its median apart is repeated at most this often.
inline constexpr int kMaxRounds = 3;

struct Measured {
  bench::Timing reference, candidate;
  int rounds = 0;              // rounds measured; the times are of the quietest
  int64_t changed_calls = 0;   // timed calls of the candidate whose outputs differed from the checked call
};

/// Times graph `id`, loaded, with inputs, and run once, on both workers. A round is 4 blocks per side, in the order
/// A B B A A B B A. On a busy machine rounds are repeated; which one is kept depends on its noise alone, never on the ratio.
Answer<Measured> measure(Worker& reference, Worker& candidate, const std::string& id, const MeasureOptions& options);

/// The first calls of a block wake the thread team and refill the caches the other side emptied; they are not trials.
inline constexpr int kSettlingCalls = 2;

struct TimedBlock {
  std::vector<double> times_us;  // of the calls after the settling ones
  int64_t changed = 0;           // calls whose outputs differed from the last run's; 0 without fingerprint
  std::string mode;              // bench::Timing::mode
  int sm_mhz = 0, temperature_c = 0;
};

/// Calls graph `id` `settling + calls` times on a worker and waits until it is quiet (on a GPU it is at once).
Answer<TimedBlock> time_block(Worker& worker, const std::string& id, int settling, int calls, bool fingerprint,
                              std::chrono::milliseconds timeout, const bench::Track& track = {});

/// Returns when process `pid` has used no CPU time for a millisecond (an OpenMP team that spins after its work counts as
/// use), or after 50 ms. False in the second case.
bool wait_until_quiet(pid_t pid);

}  // namespace passnet::run
