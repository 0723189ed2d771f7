// The types of a graph's values for the commands that show them.
#pragma once

#include "base/result.h"
#include "graphdir/sample.h"
#include "run/worker/infer.h"
#include "run/worker/worker.h"

namespace passnet::cli {

/// A worker that infers types, started when it is first asked.
class TypeInference {
 public:
  TypeInference();
  /// Errors: what the worker says.
  Result<run::InferredTypes> types_of(const graphdir::GraphDir& graph);

 private:
  run::Worker worker_;
};

}  // namespace passnet::cli
