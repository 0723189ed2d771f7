// A call of a graph as what the device does for it: kernels, copies and fills in order, recorded once, then repeated on other
// inputs and into other outputs without PyTorch or any interpretation. Internal to runtime/ (includes torch).
//
// Where do addresses stand among the arguments of a recorded kernel? The call is recorded twice, on inputs, outputs and
// temporaries at other addresses: what differs by exactly the distance between the two inputs (outputs) is an address in that
// input (output) and is patched in each call. Then the call is tried on inputs and outputs elsewhere; when that does not give
// what the operators give, bit by bit, the call works on inputs and outputs of its own, with copies before and after.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::runtime::gpu {

class RecordedCall {
 public:
  /// Runs the graph on these inputs; its outputs. Must free nothing before it returns.
  using Run = std::function<Result<std::vector<c10::IValue>>(const std::vector<at::Tensor>&)>;

  /// Records `run` on copies of `inputs`. Errors: Unsupported saying what cannot be recorded (an operator that waits for the
  /// device, draws random numbers, copies from the host, an output on the CPU), and what `run` gives.
  /// REQUIRES: run has been called before, so that nothing is loaded or tuned while it is recorded.
  static Result<std::unique_ptr<RecordedCall>> record(const Run& run, const std::vector<at::Tensor>& inputs);
  ~RecordedCall();
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  /// One call, with fresh outputs, which share memory with no other call's. Returns when all stands in line.
  /// REQUIRES: inputs of the recorded types, at multiples of 256 bytes.
  void call(const std::vector<at::Tensor>& inputs);
  /// Of the last call; a tuple's elements one by one.
  const std::vector<c10::IValue>& outputs() const;
  /// Forgets the outputs of the last call.
  void release();

  /// "direct" (one launch after the other), "graph" (one launch of a CUDA graph), "graph with copies".
  std::string mode() const;

 private:
  RecordedCall();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace passnet::runtime::gpu
