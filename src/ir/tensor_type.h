// What is known of a tensor without its data: dtype, shape, strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace passnet::ir {

struct TensorType {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;    // elements per dimension
  std::vector<int64_t> strides;  // in elements, same length as shape
  bool operator==(const TensorType&) const = default;

  int64_t numel() const;
  /// Bytes of numel() elements, not of the strided extent.
  int64_t size_bytes() const { return numel() * ir::size_bytes(dtype); }
  /// PyTorch's rule: strides of dimensions of size 1 do not matter; empty tensors are contiguous.
  bool is_contiguous() const;
  /// The same where dimensions are counted in another order, the one with the largest step first.
  bool is_contiguous_in(std::span<const size_t> order) const;
};

/// Row-major strides of `shape`, as torch.empty gives (a dimension of size 0 counts as 1).
std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape);
TensorType contiguous(DType dtype, std::vector<int64_t> shape);
/// "float32[4, 197, 768]", with " strides (…)" when not contiguous.
std::string to_string(const TensorType& type);

}  // namespace passnet::ir
