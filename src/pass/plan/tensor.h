// Views of a tensor as pure metadata: PyTorch's rules for shapes, strides and offsets, no data. A view never
// reaches outside the tensor it was made from. Errors are BadPass without position; the interpreter adds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"
#include "pass/plan/value.h"

namespace passnet::pass {

inline constexpr int64_t kMaxBufferBytes = int64_t{1} << 40;

/// `dim` counted from the front: in [0, rank), negative ones count from the back. A rank of 0 is taken as 1,
/// as PyTorch does.
Result<int64_t> wrap_dim(int64_t dim, size_t rank);

/// A tensor of rank <= 64 with sizes and strides >= 0 whose elements can be addressed with 60 bits.
Result<void> check_type(const ir::TensorType& type);
/// The same, and at most 2^40 bytes from the first to the last element.
Result<void> check_allocation(const ir::TensorType& type);
/// Strides of torch.empty_like (and so of element-wise results): the same layout when it is dense, else dense
/// in the same order of dimensions. Source: ATen infer_dense_strides.
std::vector<int64_t> strides_like(const ir::TensorType& type);
/// Elements from the first to one past the last; 0 when empty.
int64_t extent(const ir::TensorType& type);

/// view and reshape: one size may be -1. Without a copy; `method` is named in the error when one would be
/// needed.
Result<View> reshape(const View& view, std::vector<int64_t> shape, std::string_view method);
Result<View> flatten(const View& view, int64_t start, int64_t end);
Result<View> permute(const View& view, const std::vector<int64_t>& dims);
Result<View> transpose(const View& view, int64_t first, int64_t second);
Result<View> unsqueeze(const View& view, int64_t dim);
/// Without dims: all dimensions of size 1.
Result<View> squeeze(const View& view, const std::optional<std::vector<int64_t>>& dims);
/// -1 keeps a size.
Result<View> expand(const View& view, const std::vector<int64_t>& shape);
Result<View> narrow(const View& view, int64_t dim, int64_t start, int64_t length);
Result<View> select(const View& view, int64_t dim, int64_t index);
/// x[…] with integers, slices, None and one Ellipsis.
Result<View> index(const View& view, const std::vector<Value>& items);

}  // namespace passnet::pass
