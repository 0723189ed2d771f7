// Outputs of calls: given to the peer, kept, compared. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "record/record.h"
#include "runtime/session/session.h"
#include "wire/bundle.h"

namespace passnet::runtime {

/// An output of a call: a tensor, or the VALUE of what is none; neither: there is no such output.
struct CallOutput {
  at::Tensor tensor;
  Json scalar;
};

/// What a call left behind: its outputs, and the inputs that it changed, by name, as they are now.
struct CallResult {
  std::vector<CallOutput> outputs;
  std::map<std::string, at::Tensor> inputs;
};

/// "out_0", "out_1", …
std::string output_name(size_t index);

/// What a call returned; tensors on the CPU.
std::vector<CallOutput> call_outputs(const std::vector<c10::IValue>& values);

/// How the tensors among the values lie in memory; inputs: those that the call got, by name. Entry i is of value i.
std::vector<record::Layout> layouts_of(const std::vector<c10::IValue>& values,
                                       const std::vector<std::string>& input_names,
                                       const std::vector<at::Tensor>& inputs);

/// Another worker's outputs, in order. entries: of tensors in `mapping`, which must outlive them; scalars: by name.
std::vector<CallOutput> shared_outputs(const std::vector<wire::Entry>& entries, const wire::Mapping& mapping,
                                       const Json& scalars);

/// One output against another.
record::OutputCheck check_output(const CallOutput& expected, const CallOutput& found);

/// One check per output, in order, as many as the longer side has.
std::vector<record::OutputCheck> check_outputs(const std::vector<CallOutput>& expected,
                                               const std::vector<CallOutput>& found);

}  // namespace passnet::runtime
