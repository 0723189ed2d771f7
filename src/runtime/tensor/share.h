// Tensors to and from bundles in shared memory. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "runtime/tensor/shared_tensors.h"

namespace passnet::runtime {

/// One each, not laid out. Errors: Unsupported: sparse, quantised.
Result<std::vector<wire::Entry>> entries_of(const std::vector<std::string>& names,
                                            const std::vector<at::Tensor>& tensors);

/// Copies the tensors, wherever they lie, made contiguous, into a fresh sealed memfd. Errors: Io, Resource, Unsupported (sparse,
/// quantised).
Result<SharedTensors> share(const std::vector<std::string>& names, const std::vector<at::Tensor>& tensors);

/// Shared memory that is used again: new memory takes as long to get as tensors take to be copied into it.
class KeptMemory {
 public:
  /// As share(), without the seal: the peer may look at what it gets until the next call of this.
  Result<SharedTensors> share(const std::vector<std::string>& names, const std::vector<at::Tensor>& tensors);

 private:
  UniqueFd fd_;
  int64_t size_ = 0;
};

/// The tensors that were shared, which keep a mapping of the memory. Errors: Io.
Result<std::vector<at::Tensor>> map_shared(const SharedTensors& shared);
/// Tensors that read the mapping's memory; valid as long as it is.
std::vector<at::Tensor> view_shared(const std::vector<wire::Entry>& entries, const wire::Mapping& mapping);

}  // namespace passnet::runtime
