#include "author/define/products.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

namespace {

// Products that are added up where one of the matrices has few rows or columns.
constexpr int64_t kMostProductsOfFew = 64, kFew = 8;
// Products of a single row with columns that do not lie in memory one after the other.
constexpr int64_t kMostProductsOfColumns = 256;
// Products of few rows or columns that do: multiplications and elements in all, which a GPU has done before a library's
// kernel has begun.
constexpr int64_t kMostInOrder = int64_t{1} << 24, kMostElementsInOrder = 16384, kFewInOrder = 16;
// In tiles: steps at least, and rows or columns; and how many of the others, so that a tile holds more than next to nothing.
constexpr int64_t kFewestInTiles = 16, kFewestOfOthersOnCpu = 2;
// Multiplications in tiles at most: libraries are faster at more, unless there are few of them for each element.
constexpr int64_t kMostInTiles = int64_t{1} << 32, kFewForElement = 64;

// PyTorch rounds once, after the bias.
Result<void> define_with_bias(Context& c, Tensor result, TensorId sum, std::optional<TensorId> bias, size_t dim) {
  if (!bias)
    return c.define(std::move(result), {sum}, 1,
                    [sum](Scope& scope, const Place& place) { return scope.element(sum, place); });
  if (c.tensors[*bias].shape.size() != 1) return unsupported("a bias of several dimensions");
  return c.define(std::move(result), {sum, *bias}, 1, [=, bias = *bias](Scope& scope, const Place& place) {
    return scope.exprs.apply(A + B, {scope.element(sum, place), scope.element(bias, {place[dim]})});
  });
}

}  // namespace

bool Matrices::fit(InTiles tiles) const {
  const bool on_cpu = tiles == InTiles::OnCpu;
  if (depth < (on_cpu ? kFewestStepsOnCpu : kFewestInTiles) || std::max(rows, columns) < kFewestInTiles) return false;
  if (std::min(rows, columns) < (on_cpu ? kFewestOfOthersOnCpu : kFewestInTiles)) return false;
  const int64_t one = rows * columns * depth, moved = rows * depth + depth * columns + rows * columns;
  return products() <= kMostInTiles || one <= kFewForElement * moved;
}

bool Matrices::are_thin(bool in_order, InTiles tiles) const {
  const int64_t fewest = std::min(rows, columns);
  if (depth <= kMostProducts || (depth <= kMostProductsOfFew && fewest <= kFew)) return true;
  if (fewest == 1) return in_order || depth <= kMostProductsOfColumns;
  // On a CPU tiles read each operand once.
  return in_order && tiles != InTiles::OnCpu && fewest <= kFewInOrder && elements() <= kMostElementsInOrder &&
         products() <= kMostInOrder;
}

Result<void> define_sum(Context& c, Tensor result, std::vector<TensorId> takes, std::optional<TensorId> bias,
                        size_t dim, int64_t products, At at) {
  const TensorId sum = c.hidden(result.name + "_sum", result.shape, std::move(takes),
                                static_cast<int>(std::min<int64_t>(2 * products, 1000)), std::move(at));
  c.tensors[sum].folds = true;
  return define_with_bias(c, std::move(result), sum, bias, dim);
}

Result<void> define_in_tiles(Context& c, Tensor result, std::vector<TensorId> takes, std::optional<TensorId> bias,
                             size_t dim, At sum) {
  if (bias && c.tensors[*bias].shape.size() != 1) return unsupported("a bias of several dimensions");
  if (bias) takes.push_back(*bias);
  const auto with_bias = [sum = std::move(sum), bias, dim](Scope& scope, const Place& place) {
    const ExprId total = sum(scope, place);
    if (!bias) return total;
    return scope.exprs.apply(A + B, {total, scope.element(*bias, {place[dim]})});
  };
  constexpr int kWork = 1000;  // far from cheap
  if (result.loops.empty()) result.loops = result.shape;
  PASSNET_TRY_VOID(c.define(std::move(result), std::move(takes), kWork, with_bias));
  Tensor& made = c.tensors.back();
  made.folds = made.tiled = true;
  return {};
}

}  // namespace passnet::author::op
