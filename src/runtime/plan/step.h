// One entry of a flat plan: reads slots, fills slots. Everything that can be known before the first call (the
// operator's kernel table entry, literal arguments in their C++ types, slot numbers) is fixed when the step
// is made. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <vector>

#include "ir/graph.h"
#include "runtime/plan/arg_source.h"
#include "runtime/plan/moving.h"
#include "runtime/plan/schema.h"

namespace passnet::runtime {

class Step {
 public:
  virtual ~Step() = default;
  virtual void run(c10::IValue* slots) = 0;
  /// It launches kernels of a pass and reads no tensor's data itself.
  virtual bool launches() const { return false; }

  ir::NodeId node = ir::kNoNode;  // the graph node it came from, for messages
  std::vector<int32_t> reads;     // slots; decide which are freed when
  std::vector<int32_t> writes;
  std::vector<int32_t> mutates;     // slots whose tensors it changes in place
  std::vector<int32_t> size_reads;  // slots of numbers that decide sizes or types, not only values
  bool gives_number = false;        // its result is a Python number
  std::vector<int32_t> frees;       // slots whose last reader this is
  Moving moving;
  bool next_launches = false;  // the next step that does not only move what it is given launches kernels too
};

/// An operator call through the dispatcher's boxed interface: works for every operator. outs[i]: slot of the
/// i-th result, -1 to drop it.
std::unique_ptr<Step> make_boxed_call(const Overload& overload, std::vector<ArgSource> sources,
                                      std::vector<int32_t> outs);

/// An operator call without boxing, or null when the overload's C++ signature is not in the table (the
/// frequent ones are; see direct_call_table.cpp).
std::unique_ptr<Step> make_direct_call(const Overload& overload, const std::vector<ArgSource>& sources,
                                       const std::vector<int32_t>& outs);

/// A step of our own: `fn(inputs)` where inputs are the boxed sources in order.
using HostFunction = c10::IValue (*)(std::vector<c10::IValue>& inputs);
std::unique_ptr<Step> make_host_call(HostFunction fn, std::vector<ArgSource> sources, int32_t out);

}  // namespace passnet::runtime
