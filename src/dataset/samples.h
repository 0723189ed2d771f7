// Subgraphs -> samples: one operator sequence at several shapes and element types, each graph screened.
// Source: docs/dataset.md, "Samples".
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "base/shard.h"
#include "ir/dtype.h"

namespace passnet::dataset {

struct SampleOptions {
  std::vector<ir::DType> dtypes{ir::DType::Float32, ir::DType::Float16, ir::DType::BFloat16};
  size_t max_shapes = 4;                  // per sample
  size_t min_shapes = 1;                  // samples with fewer are left out
  size_t min_kernels = 2;                 // operators that would launch a kernel each when not fused
  int64_t max_bytes = int64_t{64} << 20;  // of a graph's inputs
  /// How many samples to make: one per operator sequence, in the order of rank_sequences, each with at least min_shapes
  /// shapes that are fit at all element types; 0: all samples.
  size_t limit = 0;
  Shard shard = {};         // of the groups, by their hashes
  double eval_share = 0.1;  // of the families of samples, for evaluation
  uint64_t seed = 1024;     // of the split
  int jobs = 1;
  double timeout_s = 60;
  const std::atomic<bool>* interrupted = nullptr;
};

/// One sample, or why there is none.
struct SampleReport {
  std::string hash;              // of its structure: what it is known by
  std::string path;              // of its directory, relative to the dataset
  std::string split;             // "train" or "eval"
  std::vector<std::string> ops;  // op_sequence of its first graph
  size_t graphs = 0;
  size_t members = 0;              // subgraphs that it was made of
  std::vector<std::string> unfit;  // graphs that were screened out: "NAME: why"
};
Json to_json(const SampleReport& report);

/// Groups the graphs below `subgraphs` by their structure (structure_hash), makes a sample of each group, and
/// writes
///   OUT/samples/NAME/{graph_list.txt, graphs/, pass_dir/, entry.sh}
///   OUT/lists/{all,train,eval}.{txt,csv}, OUT/samples.jsonl (a report per group), OUT/options.json (rules
///   and seeds).
/// NAME is sample_name's. A family (family.h) is never in both train and eval. Graphs that are not fit (screen) are left out. A sample
/// that an earlier run made stays as it is and is not screened again.
/// finished: called for each group, in order.
/// Errors:   Io; BadInput: no graph, or OUT was made by other rules; Resource: interrupted, no worker, another run
///           writes to OUT.
Result<void> make_samples(const std::string& subgraphs, const std::filesystem::path& out, const SampleOptions& options,
                          const std::function<void(const SampleReport&)>& finished);

}  // namespace passnet::dataset
