// Records in the forms of others' databases.
#pragma once

#include <optional>
#include <vector>

#include "base/json/json.h"
#include "record/record.h"

namespace passnet::report {

/// Benchmark JSON of PyTorch's database, an object per metric: `correct` always; `speedup`, `latency` and
/// `reference_latency` (microseconds, a value per trial) of what was timed.
/// Source: pytorch/pytorch wiki, "PyTorch OSS benchmark infra".
std::vector<Json> pytorch_benchmark(const record::RunRecord& record);

/// A Trace of FlashInfer-Bench: the sample is the definition, the graph the workload, and the passes by a hash of their files
/// the solution. none: the record says nothing of a solution (left out of scores, no pass applied, not timed).
/// Source: flashinfer-ai/flashinfer-bench, flashinfer_bench/data/trace.py.
std::optional<Json> flashinfer_trace(const record::RunRecord& record);

}  // namespace passnet::report
