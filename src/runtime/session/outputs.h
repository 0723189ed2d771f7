// Outputs of calls: given to the peer, kept, compared. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/record.h"
#include "wire/bundle.h"

namespace passnet::runtime {

/// An output of a call: a tensor, or the VALUE of what is none; neither: there is no such output.
struct CallOutput {
  at::Tensor tensor;
  Json scalar;
};

/// "out_0", "out_1", …
std::string output_name(size_t index);

/// What a call returned; tensors on the CPU.
std::vector<CallOutput> call_outputs(const std::vector<c10::IValue>& values);

/// Another worker's outputs, in order. entries: of tensors in `mapping`, which must outlive them; scalars: by name.
std::vector<CallOutput> shared_outputs(const std::vector<wire::Entry>& entries, const wire::Mapping& mapping,
                                       const Json& scalars);

/// One check per output, in order, as many as the longer side has.
std::vector<record::OutputCheck> check_outputs(const std::vector<CallOutput>& expected,
                                               const std::vector<CallOutput>& found);

}  // namespace passnet::runtime
