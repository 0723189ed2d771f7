// The types of a graph's values, and their statistics, for the commands that need them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "ir/value.h"
#include "run/worker/worker.h"

namespace passnet::cli {

struct InferredTypes {
  ir::Values values;               // by node id
  std::vector<std::string> texts;  // the same for people; "" for the output
  size_t unknown = 0;              // nodes whose type depends on data
};

/// A worker that infers types and runs graphs, started when it is first asked.
class TypeInference {
 public:
  TypeInference();
  /// Errors: what the worker says.
  Result<InferredTypes> types_of(const graphdir::GraphDir& graph);
  /// Returns the types by node id, with statistics of the values of these names from one call; where the graph does not run,
  /// the inferred types. Errors: what the worker says.
  Result<ir::Values> measure(const graphdir::GraphDir& graph, const std::vector<std::string>& names);

 private:
  run::Worker worker_;
};

}  // namespace passnet::cli
