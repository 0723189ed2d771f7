// Some rows of a large tensor, in place of all of it. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace passnet::runtime {

/// Elements of a row: of the last dimensions together, so many of them that a row has a scale of its own.
int64_t row_length(at::IntArrayRef sizes);

/// Elements of a value that are judged, and of what a timed call gave that are compared; of larger ones some rows are.
inline constexpr int64_t kMostJudged = int64_t{1} << 20, kMostOfTimedCall = int64_t{1} << 14;

/// Rows of every tensor of one shape, drawn at random: what is wrong in a share of them that is worth leaving out is
/// wrong in some of those. Who knows the seed draws the same.
class Rows {
 public:
  /// All of it.
  Rows() = default;
  /// most: elements; of a tensor with no more it is all.
  Rows(at::IntArrayRef sizes, uint64_t seed, int64_t most);

  bool is_all() const { return !rows_.defined(); }
  /// [rows, elements of one], where the tensor lies; the tensor itself where it is all. REQUIRES: the shape that was given.
  at::Tensor of(const at::Tensor& tensor) const;
  /// Where an element of these rows lies in all of the tensor, in row-major order. REQUIRES: it is not all.
  int64_t place(int64_t row, int64_t column) const;

 private:
  at::Tensor rows_;  // undefined: all
  int64_t columns_ = 1, elements_ = 0;
};

}  // namespace passnet::runtime
