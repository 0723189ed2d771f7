// The tensors that calls of a graph start from; several loaded graphs can share them. Internal to runtime/ (includes
// torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/shared_tensors.h"
#include "wire/bundle.h"

namespace passnet::runtime {

struct InputSet {
  std::vector<wire::Entry> entries;
  wire::Mapping memory;             // read-only; empty: the tensors were made on the device
  UniqueFd fd;                      // what `memory` shows
  std::vector<at::Tensor> tensors;  // by entry, on the graph's device: on the CPU they are `memory`
  uint64_t call_seed = kCallSeed;   // of random operators before each call on them
};

/// Tensors by the names in `entries`, whose bytes are those of `memory`.
std::shared_ptr<const InputSet> make_input_set(std::vector<wire::Entry> entries, wire::Mapping memory, UniqueFd fd,
                                               uint64_t call_seed = kCallSeed);

/// The tensors that `shared` holds. Errors: Io, BadInput.
Result<std::shared_ptr<const InputSet>> adopt_input_set(SharedTensors shared, uint64_t call_seed);

/// Tensors of their own that a call may change, for the arguments `names`. Copies; of a set over 256 MiB on the CPU
/// pages are copied where a call writes, in `working_memory`, which must outlive the tensors.
/// pristine: the same as they are in the set. Errors: BadInput: an argument without a tensor; Io.
struct CallInputs {
  std::vector<at::Tensor> pristine, working;
  wire::Mapping working_memory;
};
Result<CallInputs> inputs_for(const InputSet& set, const std::vector<std::string>& names);

}  // namespace passnet::runtime
