#include "ir/tensor_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace passnet::ir {

int64_t TensorType::numel() const {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

bool TensorType::is_contiguous() const {
  std::vector<size_t> as_counted(shape.size());
  std::iota(as_counted.begin(), as_counted.end(), size_t{0});
  return is_contiguous_in(as_counted);
}

bool TensorType::is_contiguous_in(std::span<const size_t> order) const {
  if (numel() == 0) return true;
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    if (shape[order[i]] != 1 && strides[order[i]] != step) return false;
    step *= shape[order[i]];
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
