// The timing protocol: warm up both sides, then alternate blocks A B B A … with one side asleep while the other is timed.
#pragma once

#include <chrono>
#include <string>

#include "bench/record.h"
#include "run/worker.h"

namespace passnet::run {

struct MeasureOptions {
  int warmup = 25;
  int trials = 100;
  std::chrono::milliseconds timeout{60000};  // per request
};

struct Measured {
  bench::Timing reference, candidate;
  int64_t changed_calls = 0;   // timed calls of the candidate whose outputs differed from the checked call
};

/// Times graph `id`, loaded, with inputs, and run once, on both workers. blocks: 4 per side, in the order A B B A A B B A.
Answer<Measured> measure(Worker& reference, Worker& candidate, const std::string& id, const MeasureOptions& options);

/// Returns when process `pid` has used no CPU time for a millisecond (an OpenMP team that spins after its work counts as
/// use), or after 50 ms. False in the second case.
bool wait_until_quiet(pid_t pid);

}  // namespace passnet::run
