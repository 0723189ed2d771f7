// The worker that infers types and measures values for all samples of `passnet author`.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "examples.h"
#include "graphdir/sample.h"

namespace passnet::cli {

/// One worker serves all threads: it takes milliseconds where an evaluation takes seconds.
class SharedInference {
 public:
  Result<std::vector<author::Example>> load(const graphdir::Sample& sample) {
    const std::scoped_lock lock(mutex_);
    return load_examples(sample.graph_paths, sample.graph_names, inference_);
  }
  Result<ir::Values> measure(const graphdir::GraphDir& graph, const std::vector<std::string>& names) {
    const std::scoped_lock lock(mutex_);
    return inference_.measure(graph, names);
  }

 private:
  std::mutex mutex_;
  TypeInference inference_;
};

}  // namespace passnet::cli
