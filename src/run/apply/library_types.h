// What the calls of PyTorch in a plan give, asked of PyTorch itself: a graph of the one call, on tensors of those types.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/budget.h"
#include "base/result.h"
#include "ir/value.h"
#include "pass/plan/library_call.h"
#include "run/worker/worker.h"

namespace passnet::run {

class CallTypes {
 public:
  /// reference: outlives this; the graphs are loaded there as kCallId, and freed again. timeout: of one request. planning:
  /// its deadline is that of all requests together.
  CallTypes(Worker& reference, std::chrono::milliseconds timeout, Budget& planning)
      : reference_(reference), timeout_(timeout), planning_(planning) {}

  /// Returns: the type, with the strides that PyTorch gives on the worker's device; or Unknown where that depends on data.
  /// Errors:  BadPass where the operator refuses its arguments; of `planning`; what a worker's requests end with.
  Result<ir::Value> of(const pass::LibraryCall& call);

 private:
  static constexpr const char* kCallId = "library call";

  std::chrono::milliseconds time_left() const { return planning_.time_left(timeout_); }

  Worker& reference_;
  std::chrono::milliseconds timeout_;
  Budget& planning_;
  std::map<std::string, ir::Value> known_;  // by the text of the graph and the types of its inputs
};

}  // namespace passnet::run
