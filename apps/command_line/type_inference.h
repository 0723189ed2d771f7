// The types of a graph's values for the commands that show them.
#pragma once

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

/// A worker that infers types, started when it is first asked.
class TypeInference {
 public:
  TypeInference();
  /// Errors: what the worker says.
  Result<InferredTypes> types_of(const graphdir::GraphDir& graph);

 private:
  run::Worker worker_;
};

}  // namespace passnet::cli
