#include "runtime/tensor/parallel.h"

#include <ATen/TensorIterator.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>

namespace passnet::runtime {

void for_each_part(int64_t parts, const std::function<void(int64_t part)>& work) {
  if (parts <= 0) return;
  // A loop over the elements of a tensor, one for each part: PyTorch shares it out among its threads.
  at::Tensor numbers = at::empty({parts}, at::TensorOptions(at::kLong));
  auto* const number = numbers.mutable_data_ptr<int64_t>();
  std::iota(number, number + parts, int64_t{0});
  at::TensorIterator loop = at::TensorIterator::nullary_op(numbers);
  loop.for_each(
      [&](char** data, const int64_t* strides, int64_t columns, int64_t rows) {
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t i = 0; i < columns; ++i)
            work(*reinterpret_cast<const int64_t*>(data[0] + row * strides[1] + i * strides[0]));
        }
      },
      1);
}

void for_each_range(int64_t count, int64_t length, const std::function<void(int64_t first, int64_t last)>& work) {
  for_each_part((count + length - 1) / length,
                [&](int64_t part) { work(part * length, std::min(count, (part + 1) * length)); });
}

}  // namespace passnet::runtime
