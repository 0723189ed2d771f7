#include "author/fuse/product.h"

#include <algorithm>
#include <set>
#include <utility>

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// The first load in it, which tells how it lies.
std::optional<ExprId> first_load(const ExprTable& exprs, ExprId id) {
  if (exprs.at(id).kind == Kind::Load) return id;
  std::optional<ExprId> found;
  exprs.for_each_part(id, [&](ExprId part) {
    if (!found) found = first_load(exprs, part);
  });
  return found;
}

/// element: of the result; choose: its loops across may be counted in any order.
void find_neighbours(Definitions& definitions, const std::vector<Loop>& depth, ElementId element, bool choose,
                     ProductOperand& operand) {
  ExprTable& exprs = definitions.exprs();
  const std::optional<ExprId> load = first_load(exprs, operand.element);
  if (!load) return;
  const Expr expr = exprs.at(*load);
  operand.in_memory = *load == operand.element && expr.element == element;
  const Access access = access_in(definitions, expr.tensor, expr.places);
  const auto is_beside = [&](const Loop& loop) { return moves_by_one(definitions.sizes(), access, loop.variable); };
  if (choose) std::ranges::stable_partition(operand.across, [&](const Loop& loop) { return !is_beside(loop); });
  const bool across = is_beside(operand.across.back());
  operand.along_depth = !across && is_beside(depth.back());
  const bool is_reordered = definitions.tensors()[expr.tensor].reorders;
  operand.is_run = operand.in_memory &&
                   (is_reordered || lie_in_one_piece(definitions.sizes(), access, across ? operand.across : depth));
}

/// depth: blocks where there are several, places of a window, channels of a block.
std::optional<Windows> windows_of(Definitions& definitions, const Product& product, SizeId blocks) {
  ExprTable& exprs = definitions.exprs();
  Windows windows;
  const bool is_one = definitions.sizes().is_one(blocks);
  if (!is_one) windows.block = product.depth.front().variable;
  windows.taps = {product.depth.begin() + (is_one ? 0 : 1), product.depth.end() - 1};
  windows.channel = product.depth.back().variable;
  windows.load = product.columns.element;
  if (const Expr guard = exprs.at(windows.load); guard.kind == Kind::Guard) {
    windows.inside = guard.parts[0];
    windows.load = guard.parts[1];
    const std::set<VariableId>& asks = exprs.free_variables(guard.parts[0]);
    const Expr outside = exprs.at(guard.parts[2]);
    if (asks.contains(windows.channel) || (windows.block && asks.contains(*windows.block)) ||
        outside.kind != Kind::Number || outside.real() != 0.0)
      return std::nullopt;
  }
  const Expr load = exprs.at(windows.load);
  if (load.kind != Kind::Load || load.element != product.element) return std::nullopt;
  const Access access = access_in(definitions, load.tensor, load.places);
  if (access.irregular.contains(windows.channel) || !access.steps.contains(windows.channel)) return std::nullopt;
  windows.step = access.steps.at(windows.channel);
  return windows;
}

}  // namespace

std::optional<Product> product_of(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Items || !kernel.row.empty() || kernel.items.empty()) return std::nullopt;
  ExprTable& exprs = definitions.exprs();
  const std::set<ExprId> reductions = outermost_reductions(exprs, kernel);
  const auto sum =
      std::ranges::find_if(reductions, [&](ExprId id) { return definitions.tensors()[exprs.at(id).tensor].tiled; });
  if (sum == reductions.end()) return std::nullopt;
  const Expr expr = exprs.at(*sum), factors = exprs.at(expr.parts[0]);
  if (factors.kind != Kind::Apply || factors.parts.size() != 2) return std::nullopt;
  Product product;
  product.sum = *sum;
  product.element = definitions.tensors()[expr.tensor].element;
  const Tensor& of = definitions.tensors()[expr.tensor];
  product.channels = of.channels;
  product.overlaps = of.overlaps;
  for (const VariableId variable : expr.variables)
    product.depth.push_back({variable, exprs.indices().extent(variable)});
  product.rows.element = factors.parts[0];
  product.columns.element = factors.parts[1];
  const VariableId last = kernel.items.back().variable;
  if (exprs.free_variables(product.rows.element).contains(last))
    std::swap(product.rows.element, product.columns.element);
  const std::set<VariableId> of_rows = exprs.free_variables(product.rows.element),
                             of_columns = exprs.free_variables(product.columns.element);
  for (const Loop& loop : kernel.items) {
    const bool in_rows = of_rows.contains(loop.variable), in_columns = of_columns.contains(loop.variable);
    (in_rows == in_columns ? product.batch : in_rows ? product.rows.across : product.columns.across).push_back(loop);
  }
  if (product.rows.across.empty() || product.columns.across.empty() || product.columns.across.back().variable != last)
    return std::nullopt;
  find_neighbours(definitions, product.depth, product.element, true, product.rows);
  find_neighbours(definitions, product.depth, product.element, false, product.columns);
  if (of.blocks && product.rows.in_memory) product.windows = windows_of(definitions, product, *of.blocks);
  return product;
}

}  // namespace passnet::author
