// Kernels for processors that need not be in this machine.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "pass/source.h"
#include "run/batch/build_ahead.h"
#include "run/worker/worker.h"

namespace passnet::ship {

class TargetBuilder {
 public:
  /// interrupted: ends a build; outlives this. Errors: as run::Worker::start and run::start_up.
  static Result<TargetBuilder> start(const std::atomic<bool>& interrupted);
  /// Matches passes into a graph and compiles their kernels. target: as bundle::architecture_of takes it.
  /// Errors: as bundle::architecture_of and run::build_graph.
  Result<run::GraphBuild> build(const std::filesystem::path& graph, const std::vector<pass::Pass>& passes,
                                const std::string& target);

 private:
  explicit TargetBuilder(const std::atomic<bool>& interrupted);

  const std::atomic<bool>* interrupted_;
  run::Worker worker_;  // infers the shapes in graphs
};

}  // namespace passnet::ship
