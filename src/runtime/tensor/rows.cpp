#include "runtime/tensor/rows.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <random>

namespace passnet::runtime {

namespace {

/// Rows of fewer elements are taken together, as one of them has no scale of its own.
constexpr int64_t kShortestRow = 64;
/// Longer rows are cut into pieces, the last of which overlaps the one before it: a few long rows miss what is wrong in
/// one place.
constexpr int64_t kLongestRow = 4096, kPiece = 1024;

}  // namespace

int64_t row_length(at::IntArrayRef sizes) {
  int64_t length = 1;
  for (size_t d = sizes.size(); d-- > 0 && length < kShortestRow;) length *= sizes[d];
  return std::max<int64_t>(1, length);
}

Rows::Rows(at::IntArrayRef sizes, uint64_t seed, int64_t most)
    : columns_(row_length(sizes)), elements_(c10::multiply_integers(sizes)) {
  if (elements_ <= most) return;
  if (columns_ > kLongestRow) columns_ = std::min(most, kPiece);
  std::mt19937_64 random(seed);
  const auto rows = static_cast<uint64_t>(elements_ / columns_);
  rows_ = at::empty({std::max<int64_t>(1, most / columns_)}, at::TensorOptions(at::kLong));
  std::generate_n(rows_.mutable_data_ptr<int64_t>(), rows_.numel(),
                  [&] { return static_cast<int64_t>(random() % rows); });
}

at::Tensor Rows::of(const at::Tensor& tensor) const {
  if (is_all()) return tensor;
  const at::Tensor flat = tensor.contiguous().view(-1);
  const int64_t elements = flat.numel(), rest = elements % columns_;
  const at::Tensor rows =
      flat.narrow(0, 0, elements - rest).view({-1, columns_}).index_select(0, rows_.to(tensor.device()));
  return rest == 0 ? rows : at::cat({rows, flat.narrow(0, elements - columns_, columns_).view({1, columns_})});
}

int64_t Rows::place(int64_t row, int64_t column) const {
  const bool is_drawn = row < rows_.numel();
  return (is_drawn ? rows_.const_data_ptr<int64_t>()[row] * columns_ : elements_ - columns_) + column;
}

}  // namespace passnet::runtime
