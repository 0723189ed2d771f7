// One range of a whole graph as a graph directory of its own. Source: docs/dataset-format.md, "How a range is cut out".
#pragma once

#include <chrono>
#include <filesystem>

#include "analysis/range.h"
#include "base/result.h"
#include "graphdir/sample.h"
#include "run/worker/worker.h"

namespace passnet::dataset {

struct CutOptions {
  bool measure = true;  // run the whole graph for statistics of the values that the range starts from; else types alone
  std::chrono::milliseconds timeout{120'000};  // of one step
};

/// Writes the nodes [start, end) of the body of `whole` to the new directory `out`. Records of arguments of the whole
/// graph are kept; graph_net.json is that of the whole graph with "start" and "end".
/// worker:   a reference worker that runs.
/// Errors:   BadInput: the range is empty or reaches beyond the body, `out` is there; Unsupported: no value of the
///           range is used after it, or an input of it has no record (pieces/describe.h); of the worker; Io.
Result<void> cut_graph(run::Worker& worker, const graphdir::GraphDir& whole, analysis::Range range,
                       const std::filesystem::path& out, const CutOptions& options);

}  // namespace passnet::dataset
