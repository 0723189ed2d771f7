// Workloads of FlashInfer-Trace as graph directories.
// Source: flashinfer-ai/flashinfer-bench, docs/flashinfer-trace/workload.mdx.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "exchange/definition.h"

namespace passnet::exchange {

struct WorkloadGraphs {
  std::vector<std::filesystem::path> written;          // "DIRECTORY/batch_size_7"; one that was there already counts
  std::vector<std::pair<uint32_t, std::string>> left;  // the line of a workload without a graph, and why
};

/// Writes a graph directory per set of sizes. Random inputs are normally distributed, with a deviation of 1.
/// workloads: JSON lines. directory: of the graphs.
/// Errors:    Io; BadInput at the line: not JSON, a field that is missing or of another type, a size below 1.
Result<WorkloadGraphs> write_graphs(const Definition& definition, const std::filesystem::path& workloads,
                                    const std::filesystem::path& directory);

}  // namespace passnet::exchange
