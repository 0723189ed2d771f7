// Several samples into one output directory: OUT/<sample>/records.jsonl, validation.log, aggregated_score.json, with
// locking, resuming, and records that survive Ctrl-C and a full disk.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "record/record.h"
#include "run/batch/slots.h"
#include "run/evaluate/evaluate.h"
#include "run/keep/record_file.h"

namespace passnet::run {

struct BatchOptions {
  EvaluateOptions evaluate;      // but for its seed
  std::optional<uint64_t> seed;  // none: one from the system, which the records tell
  std::filesystem::path out;
  bool resume = false;                                        // keep the records that still stand, see docs/records.md
  std::map<std::string, std::vector<std::string>> only = {};  // by sample, the graphs to evaluate; not listed: all
  SlotCount slots;
  std::string shard = {};  // "2/8", for the session: the samples are this part of a list; empty: all of it
  int build_jobs = 0;  // graphs at a time whose kernels are compiled ahead of their evaluation; 0: each when it is due
};

struct BatchHooks {
  std::function<void(const std::string& why)> waiting;  // for processors that another evaluation holds
  /// resume: these graphs of a sample have a record that no longer stands, for this reason. Before `planned`.
  std::function<void(const std::string& sample, const std::vector<std::string>& graphs, const std::string& reason)>
      again;
  std::function<void(size_t graphs)> planned;   // total graphs to do, before the first
  std::function<void(size_t graphs)> building;  // their kernels are compiled ahead (BatchOptions::build_jobs)
  std::function<void(const std::string& sample, const std::string& graph)> started;
  std::function<void(const record::RunRecord&)> finished;
};

/// Hooks are called by one thread at a time.
/// All records (resumed ones that still stand included), in sample order. Written files are complete for every finished
/// graph, also when an error ends the batch; `error` then says why.
struct BatchResult {
  std::vector<record::RunRecord> records;
  std::optional<Error> error;
};
BatchResult evaluate_batch(const std::vector<std::filesystem::path>& samples, const BatchOptions& options,
                           const BatchHooks& hooks);
/// The same of samples that are put together from elsewhere: graphs of one directory, passes of another.
BatchResult evaluate_batch(std::vector<graphdir::Sample> samples, const BatchOptions& options, const BatchHooks& hooks);

/// One of several runs that evaluate the same graphs with other passes, each into a directory of its own.
struct BatchRun {
  std::string name;  // in messages
  std::vector<graphdir::Sample> samples;
  std::filesystem::path out;
  BatchHooks hooks;
};
/// All of them at once, sample by sample and graph by graph, so that what depends on no pass is done once for all. They
/// share a seed. A graph that one run has a record of is evaluated for the others alone. options: but for `out`. Graphs that the
/// machine kept from being evaluated while several shared a GPU are evaluated once more, one at a time.
/// records: by run. REQUIRES: the runs list the same samples, each with the same graphs, in one order.
struct BatchResults {
  std::vector<std::vector<record::RunRecord>> records;
  std::optional<Error> error;
};
BatchResults evaluate_batches(std::vector<BatchRun> runs, const BatchOptions& options);

}  // namespace passnet::run
