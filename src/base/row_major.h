// Places of elements in row-major order: the last dimension counts fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace passnet {

/// The index of an element by dimension, from its place among all. REQUIRES: 0 <= place < number of elements.
inline std::vector<int64_t> index_of(int64_t place, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; place /= shape[d]) index[d] = place % shape[d];
  return index;
}

}  // namespace passnet
