#include "author/subject/order.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace passnet::author {

using Order = std::vector<size_t>;

std::optional<Order> common_order(const std::vector<ValueType>& types) {
  const auto is_of_that_rank = [&](const ValueType& type) {
    return type.is_tensor() && type.tensor.shape.size() == types[0].tensor.shape.size();
  };
  if (!std::ranges::all_of(types, is_of_that_rank)) return std::nullopt;
  const auto fits_all = [&](const Order& order) {
    return std::ranges::all_of(types, [&](const ValueType& type) { return type.tensor.is_contiguous_in(order); });
  };
  Order as_counted(types[0].tensor.shape.size());
  std::iota(as_counted.begin(), as_counted.end(), size_t{0});
  if (fits_all(as_counted)) return as_counted;
  // A dimension with one element has a step that says nothing of where it belongs: another graph may.
  for (const ValueType& type : types) {
    Order order = as_counted;
    std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t dim) { return type.tensor.strides[dim]; });
    if (fits_all(order)) return order;
  }
  return std::nullopt;
}

}  // namespace passnet::author
