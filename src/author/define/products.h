// Products that are added up by kernels: which of them, and how the sums are defined.
#pragma once

#include <optional>
#include <vector>

#include "author/define/context.h"

namespace passnet::author::op {

/// Products of two matrices in one graph, `batch` of them.
struct Matrices {
  int64_t batch = 1, rows = 1, columns = 1, depth = 1;

  int64_t elements() const { return batch * rows * columns; }
  int64_t products() const { return elements() * depth; }
  /// Tells whether tiles are worth a try.
  bool fit(InTiles tiles) const;
  /// Tells whether the product of these, the largest of all graphs, is added up step by step for each element. in_order: the larger
  /// operand is read one element after the other.
  bool are_thin(bool in_order, InTiles tiles) const;
};

/// Defines a sum of so many products, which no result is, and the bias.
Result<void> define_sum(Context& c, Tensor result, std::vector<TensorId> takes, std::optional<TensorId> bias,
                        size_t dim, int64_t products, At at);
/// Defines a result whose own definition is the sum, and the bias: so it is the result that is stored, where one is.
Result<void> define_in_tiles(Context& c, Tensor result, std::vector<TensorId> takes, std::optional<TensorId> bias,
                             size_t dim, At sum);

// Products that are added up in any case.
inline constexpr int64_t kMostProducts = 16;
// Steps of a product in tiles on a CPU at least.
inline constexpr int64_t kFewestStepsOnCpu = 8;

}  // namespace passnet::author::op
