#include "ir/tensor_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace passnet::ir {

int64_t TensorType::numel() const {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

bool TensorType::is_contiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return numel() == 0;
    expected *= shape[i];
  }
  return true;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

TensorType contiguous(DType dtype, std::vector<int64_t> shape) {
  TensorType type{dtype, std::move(shape), {}};
  type.strides = contiguous_strides(type.shape);
  return type;
}

std::string to_string(const TensorType& type) {
  std::string text = fmt::format("{}[{}]", name(type.dtype), fmt::join(type.shape, ", "));
  if (!type.is_contiguous()) text += fmt::format(" strides ({})", fmt::join(type.strides, ", "));
  return text;
}

}  // namespace passnet::ir
