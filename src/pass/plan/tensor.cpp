#include "pass/plan/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/json/python_number.h"

namespace passnet::pass {

namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 60;

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// Product of the sizes when it stays within kMaxExtent. A 0 anywhere makes it 0 only if the rest fits too.
std::optional<int64_t> checked_numel(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size == 0) empty = true;
    const auto product = python::multiply(count, std::max<int64_t>(size, 1));
    if (!product || *product > kMaxExtent) return std::nullopt;
    count = *product;
  }
  return empty ? 0 : count;
}

Error too_large(const std::vector<int64_t>& shape) {
  return bad_pass(fmt::format("tensor too large: {} has more than 2^60 elements", shape_text(shape)));
}

/// Fills in one -1. Errors: two of them, a negative size, another number of elements.
Result<void> infer_shape(const View& view, std::vector<int64_t>& shape) {
  const int64_t numel = view.type.numel();
  int64_t* inferred = nullptr;
  const std::vector<int64_t> given = shape;
  for (int64_t& size : shape) {
    if (size == -1 && !inferred)
      inferred = &size;
    else if (size < 0) {
      return bad_pass(fmt::format("invalid shape {}: found size {}, expected sizes >= 0 and at most one -1",
                                  shape_text(given), size));
    }
  }
  if (inferred) *inferred = 1;
  const auto known = checked_numel(shape);
  const bool fits = known && (inferred ? *known != 0 && numel % *known == 0 : *known == numel);
  if (!fits) {
    return bad_pass(fmt::format("shape {} does not fit a tensor of {} elements, {}", shape_text(given), numel,
                                shape_text(view.type.shape)));
  }
  if (inferred) *inferred = numel / *known;
  return {};
}

/// Strides that show the same elements in the same order under another shape, when there are any.
/// Old dimensions are taken in runs that lie evenly in memory; each run must be covered by whole new
/// dimensions.
std::optional<std::vector<int64_t>> strides_of_view(const ir::TensorType& type, const std::vector<int64_t>& shape) {
  if (type.numel() == 0) return shape == type.shape ? type.strides : ir::contiguous_strides(shape);
  std::vector<int64_t> strides(shape.size());
  size_t target = shape.size();
  int64_t run_stride = type.shape.empty() ? 1 : type.strides.back();
  int64_t run_numel = 1, covered = 1;
  for (size_t dim = type.shape.size(); dim-- > 0;) {
    run_numel *= type.shape[dim];
    const bool run_ends = dim == 0 || (type.shape[dim - 1] != 1 && type.strides[dim - 1] != run_numel * run_stride);
    if (!run_ends) continue;
    while (target > 0 && (covered < run_numel || shape[target - 1] == 1)) {
      --target;
      strides[target] = covered * run_stride;
      covered *= shape[target];
    }
    if (covered != run_numel) return std::nullopt;
    if (dim > 0) {
      run_stride = type.strides[dim - 1];
      run_numel = covered = 1;
    }
  }
  for (; target > 0; --target) strides[target - 1] = covered * run_stride;  // only sizes of 1 are left
  return strides;
}

bool is_dense(const ir::TensorType& type) {
  if (type.is_contiguous()) return true;  // empty ones too
  std::vector<size_t> order(type.shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t dim) { return type.shape[dim] < 2; });
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return type.strides[a] < type.strides[b]; });
  int64_t expected = 1;
  for (size_t dim : order) {
    if (type.strides[dim] != expected) return false;
    expected *= type.shape[dim];
  }
  return true;
}

View with_type(const View& view, std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t offset) {
  return {view.buffer, offset, {view.type.dtype, std::move(shape), std::move(strides)}};
}

Result<View> take_slice(const View& view, size_t dim, const SliceValue& slice) {
  const int64_t size = view.type.shape[dim], step = slice.step.value_or(1);
  if (step <= 0) return bad_pass(fmt::format("slice step {} of a tensor, expected a step > 0", step));
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  const int64_t start = clamp(slice.start.value_or(0));
  const int64_t stop = std::max(start, clamp(slice.stop.value_or(size)));
  View result = view;
  result.type.shape[dim] = (stop - start) / step + ((stop - start) % step != 0 ? 1 : 0);
  const auto stride = python::multiply(view.type.strides[dim], step);
  if (!stride || *stride > kMaxExtent) return bad_pass(fmt::format("slice step {} is too large", step));
  result.offset += start * view.type.strides[dim];
  result.type.strides[dim] = *stride;
  return result;
}

}  // namespace

Result<int64_t> wrap_dim(int64_t dim, size_t rank) {
  const auto limit = static_cast<int64_t>(std::max<size_t>(rank, 1));
  if (dim < -limit || dim >= limit) {
    return bad_pass(fmt::format("dimension out of range: found {}, expected {} to {} for a tensor of {} dimension{}",
                                dim, -limit, limit - 1, rank, rank == 1 ? "" : "s"));
  }
  return dim < 0 ? dim + limit : dim;
}

int64_t extent(const ir::TensorType& type) {
  int64_t last = 0;
  for (size_t dim = 0; dim < type.shape.size(); ++dim) {
    if (type.shape[dim] == 0) return 0;
    last += (type.shape[dim] - 1) * type.strides[dim];
  }
  return last + 1;
}

Result<void> check_type(const ir::TensorType& type) {
  if (type.shape.size() > kMaxRank) {
    return bad_pass(fmt::format("too many dimensions: found {}, expected at most {}", type.shape.size(), kMaxRank));
  }
  if (type.strides.size() != type.shape.size()) {
    return bad_pass(fmt::format("strides do not fit the shape: found {} strides, expected {}", type.strides.size(),
                                type.shape.size()));
  }
  for (int64_t size : type.shape) {
    if (size < 0) return bad_pass(fmt::format("negative size {} in shape {}", size, shape_text(type.shape)));
  }
  if (!checked_numel(type.shape)) return too_large(type.shape);
  int64_t last = 0;
  for (size_t dim = 0; dim < type.shape.size(); ++dim) {
    const int64_t stride = type.strides[dim];
    if (stride < 0 || stride > kMaxExtent) {
      return bad_pass(fmt::format("invalid stride {} in {}, expected 0 to 2^60", stride, shape_text(type.strides)));
    }
    const auto reach = python::multiply(std::max<int64_t>(type.shape[dim] - 1, 0), stride);
    const auto sum = reach ? python::add(last, *reach) : std::nullopt;
    if (!sum || *sum >= kMaxExtent) return too_large(type.shape);
    last = *sum;
  }
  return {};
}

Result<void> check_allocation(const ir::TensorType& type) {
  PASSNET_TRY_VOID(check_type(type));
  if (extent(type) > kMaxBufferBytes / ir::size_bytes(type.dtype)) {
    return bad_pass(fmt::format("allocation too large: {} takes more than 2^40 bytes", ir::to_string(type)));
  }
  return {};
}

std::vector<int64_t> strides_like(const ir::TensorType& type) {
  if (is_dense(type)) return type.strides;
  // Dimensions by rising stride, the last first. Stride 0 (expanded) says nothing and keeps its place, so
  // this must be an insertion sort: the relation is no strict order.
  const auto goes_after = [&](size_t a, size_t b) {
    const int64_t x = type.strides[a], y = type.strides[b];
    if (x == 0 || y == 0) return 0;
    if (x != y) return x > y ? 1 : -1;
    return type.shape[a] > type.shape[b] ? 1 : 0;
  };
  const size_t rank = type.shape.size();
  std::vector<size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), size_t{0});
  for (size_t next = 1; next < rank; ++next) {
    size_t moving = next;
    for (size_t other = next; other-- > 0;) {
      const int relation = goes_after(order[other], order[moving]);
      if (relation < 0) break;
      if (relation > 0) {
        std::swap(order[other], order[moving]);
        moving = other;
      }
    }
  }
  std::vector<int64_t> strides(rank);
  int64_t step = 1;
  for (size_t dim : order) {
    strides[dim] = step;
    step *= std::max<int64_t>(type.shape[dim], 1);
  }
  return strides;
}

Result<View> reshape(const View& view, std::vector<int64_t> shape, std::string_view method) {
  if (shape.size() > kMaxRank) {
    return bad_pass(fmt::format("too many dimensions: found {}, expected at most {}", shape.size(), kMaxRank));
  }
  PASSNET_TRY_VOID(infer_shape(view, shape));
  auto strides = strides_of_view(view.type, shape);
  if (!strides) {
    return bad_pass(fmt::format("{} to {} needs a copy: the tensor is {}", method, shape_text(shape),
                                ir::to_string(view.type)))
        .with_hint("copy in a kernel, or 'return NotImplemented' to decline the site");
  }
  return with_type(view, std::move(shape), std::move(*strides), view.offset);
}

Result<View> flatten(const View& view, int64_t start, int64_t end) {
  PASSNET_TRY(const int64_t first, wrap_dim(start, view.type.shape.size()));
  PASSNET_TRY(const int64_t last, wrap_dim(end, view.type.shape.size()));
  if (first > last) {
    return bad_pass(fmt::format("flatten from dimension {} to {}, expected the first not after the last", first, last));
  }
  if (view.type.shape.empty()) return reshape(view, {1}, "flatten");
  const auto& old = view.type.shape;
  std::vector<int64_t> shape(old.begin(), old.begin() + first);
  shape.push_back(std::accumulate(old.begin() + first, old.begin() + last + 1, int64_t{1}, std::multiplies<>()));
  shape.insert(shape.end(), old.begin() + last + 1, old.end());
  return reshape(view, std::move(shape), "flatten");
}

Result<View> permute(const View& view, const std::vector<int64_t>& dims) {
  const size_t rank = view.type.shape.size();
  std::vector<bool> seen(rank);
  View result = view;
  bool valid = dims.size() == rank;
  for (size_t i = 0; valid && i < rank; ++i) {
    PASSNET_TRY(const int64_t from, wrap_dim(dims[i], rank));
    valid = !seen[from];
    seen[from] = true;
    result.type.shape[i] = view.type.shape[from];
    result.type.strides[i] = view.type.strides[from];
  }
  if (!valid) {
    return bad_pass(fmt::format("permute of {} dimensions: found {}, expected each of 0 to {} once", rank,
                                shape_text(dims), static_cast<int64_t>(rank) - 1));
  }
  return result;
}

Result<View> transpose(const View& view, int64_t first, int64_t second) {
  PASSNET_TRY(const int64_t a, wrap_dim(first, view.type.shape.size()));
  PASSNET_TRY(const int64_t b, wrap_dim(second, view.type.shape.size()));
  View result = view;
  if (view.type.shape.empty()) return result;
  std::swap(result.type.shape[a], result.type.shape[b]);
  std::swap(result.type.strides[a], result.type.strides[b]);
  return result;
}

Result<View> unsqueeze(const View& view, int64_t dim) {
  const size_t rank = view.type.shape.size();
  if (rank == kMaxRank) return bad_pass(fmt::format("too many dimensions: expected at most {}", kMaxRank));
  PASSNET_TRY(const int64_t at, wrap_dim(dim, rank + 1));
  View result = view;
  const bool last = at == static_cast<int64_t>(rank);
  const auto stride = last ? std::optional<int64_t>(1) : python::multiply(view.type.shape[at], view.type.strides[at]);
  result.type.shape.insert(result.type.shape.begin() + at, 1);
  result.type.strides.insert(result.type.strides.begin() + at, std::min(stride.value_or(kMaxExtent), kMaxExtent));
  return result;
}

Result<View> squeeze(const View& view, const std::optional<std::vector<int64_t>>& dims) {
  const size_t rank = view.type.shape.size();
  std::vector<bool> wanted(rank, !dims);
  for (int64_t dim : dims.value_or(std::vector<int64_t>{})) {
    PASSNET_TRY(const int64_t at, wrap_dim(dim, rank));
    if (rank > 0) wanted[at] = true;
  }
  View result = with_type(view, {}, {}, view.offset);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (wanted[dim] && view.type.shape[dim] == 1) continue;
    result.type.shape.push_back(view.type.shape[dim]);
    result.type.strides.push_back(view.type.strides[dim]);
  }
  return result;
}

Result<View> expand(const View& view, const std::vector<int64_t>& shape) {
  const size_t rank = view.type.shape.size();
  const auto mismatch = [&] {
    return bad_pass(fmt::format("cannot expand {} to {}", shape_text(view.type.shape), shape_text(shape)))
        .with_hint("a size of 1 can grow, new dimensions go in front, -1 keeps a size");
  };
  if (shape.size() < rank || shape.size() > kMaxRank) return mismatch();
  View result = with_type(view, shape, std::vector<int64_t>(shape.size(), 0), view.offset);
  const size_t added = shape.size() - rank;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim < added) {
      if (shape[dim] < 0) return mismatch();
      continue;
    }
    const int64_t size = view.type.shape[dim - added];
    if (shape[dim] == -1 || shape[dim] == size) {
      result.type.shape[dim] = size;
      result.type.strides[dim] = view.type.strides[dim - added];
    } else if (size != 1 || shape[dim] < 0) {
      return mismatch();
    }
  }
  if (!checked_numel(result.type.shape)) return too_large(result.type.shape);
  return result;
}

Result<View> narrow(const View& view, int64_t dim, int64_t start, int64_t length) {
  PASSNET_TRY(const int64_t at, wrap_dim(dim, view.type.shape.size()));
  if (view.type.shape.empty()) return bad_pass("narrow of a tensor without dimensions");
  const int64_t size = view.type.shape[at];
  const int64_t first = start < 0 ? start + size : start;
  if (first < 0 || first > size || length < 0 || length > size - first) {
    return bad_pass(
        fmt::format("narrow out of range: start {} and length {} in a dimension of size {}", start, length, size));
  }
  return take_slice(view, at, {first, first + length, std::nullopt});
}

Result<View> select(const View& view, int64_t dim, int64_t index) {
  if (view.type.shape.empty()) return bad_pass("index into a tensor without dimensions");
  PASSNET_TRY(const int64_t at, wrap_dim(dim, view.type.shape.size()));
  const int64_t size = view.type.shape[at];
  if (index < -size || index >= size) {
    return bad_pass(fmt::format("index out of range: found {}, expected {} to {} in dimension {} of {}", index, -size,
                                size - 1, at, shape_text(view.type.shape)));
  }
  View result = view;
  result.offset += (index < 0 ? index + size : index) * view.type.strides[at];
  result.type.shape.erase(result.type.shape.begin() + at);
  result.type.strides.erase(result.type.strides.begin() + at);
  return result;
}

Result<View> index(const View& view, const std::vector<Value>& items) {
  const size_t rank = view.type.shape.size();
  const auto consumes = [](const Value& item) { return get_if<int64_t>(item) || get_if<SliceValue>(item); };
  const auto used = static_cast<size_t>(std::count_if(items.begin(), items.end(), consumes));
  if (used > rank) {
    return bad_pass(
        fmt::format("too many indices: found {} for a tensor of {} dimension{}", used, rank, rank == 1 ? "" : "s"));
  }
  View result = view;
  size_t dim = 0;
  bool has_ellipsis = false;
  for (const Value& item : items) {
    if (const auto* at = get_if<int64_t>(item)) {
      PASSNET_TRY(result, select(result, static_cast<int64_t>(dim), *at));
    } else if (const auto* slice = get_if<SliceValue>(item)) {
      PASSNET_TRY(result, take_slice(result, dim++, *slice));
    } else if (get_if<NoneValue>(item)) {
      PASSNET_TRY(result, unsqueeze(result, static_cast<int64_t>(dim++)));
    } else if (get_if<EllipsisValue>(item) && !has_ellipsis) {
      has_ellipsis = true;
      dim += rank - used;
    } else {
      return bad_pass(
          fmt::format("cannot index a tensor with {}, expected integers, slices, None and one '...'", describe(item)));
    }
  }
  return result;
}

}  // namespace passnet::pass
