#include "author/text/facts.h"

#include <algorithm>
#include <set>

#include "author/text/kernel_part.h"
#include "author/text/neighbours.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Neighbours that a thread of PyTorch's kernel for layer norms has.
constexpr int64_t kPackOfLayerNorm = 4;
/// Work of an element of a row whose sums go on from one part of it to the next: parts wait for each other.
constexpr int64_t kWorkOfSums = 16;
/// Steps of a column from which on threads may share it.
constexpr int64_t kShortestColumn = 32;

void add(auto& list, const auto& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

/// given: reductions whose results it gets.
void collect_facts(Definitions& definitions, ExprId id, const std::vector<ExprId>& given, std::set<ExprId>& met,
                   KernelFacts& facts) {
  if (std::ranges::find(given, id) != given.end() || !met.insert(id).second) return;
  const Expr expr = definitions.exprs().at(id);
  definitions.exprs().for_each_part(id, [&](ExprId part) { collect_facts(definitions, part, given, met, facts); });
  if (expr.kind == Kind::Reduce) {
    SizeTable& sizes = definitions.sizes();
    SizeId steps = sizes.one();
    for (const VariableId variable : expr.variables)
      steps = sizes.product(steps, definitions.exprs().indices().extent(variable));
    if (sizes.largest(steps) > sizes.largest(facts.steps)) facts.steps = steps;
  }
  if (expr.kind == Kind::Load) add(facts.loaded, expr.tensor);
  if (expr.kind == Kind::Parameter) add(facts.parameters, std::pair(expr.text, expr.compute));
}

void add_moved(Packing& packing, const std::vector<SizeId>& steps, TensorId tensor) {
  for (const SizeId step : steps) add(packing.steps, step);
  add(packing.tensors, tensor);
}

bool is_float(const Definitions& definitions, TensorId tensor) {
  return definitions.elements()[definitions.tensors()[tensor].element].compute == Compute::Float;
}

/// Tells whether threads share rows, but neighbours of something that they read are elements of rows beside each other.
bool lie_beside(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Row || kernel.items.empty()) return false;
  SizeTable& sizes = definitions.sizes();
  return std::ranges::any_of(loads_in(definitions.exprs(), kernel), [&](ExprId load) {
    const Expr expr = definitions.exprs().at(load);
    const Access access = access_in(definitions, expr.tensor, expr.places);
    return jumps(sizes, access, kernel.row.back().variable) &&
           moves_by_one(sizes, access, kernel.items.back().variable);
  });
}

/// Tells whether it has a loop of its own: a reduction that does not go over the row.
bool has_other_loops(const ExprTable& exprs, const FusedKernel& kernel) {
  const std::set<VariableId> row(kernel.row_variables.begin(), kernel.row_variables.end());
  const KernelPart whole = part_of(exprs, kernel, whole_of(kernel));
  return std::ranges::any_of(reductions_in(exprs, whole.roots), [&](ExprId id) {
    const std::vector<VariableId>& variables = exprs.at(id).variables;
    return kernel.lanes == Lanes::Items ||
           (!row.empty() && std::set<VariableId>(variables.begin(), variables.end()) != row);
  });
}

/// Tells whether something is read to compute it, beside itself. Where that is not so for a load its neighbours lie
/// near each other (an interpolation, a fold).
bool needs_reading(const ExprTable& exprs, ExprId id) {
  bool found = false;
  exprs.for_each_part(
      id, [&](ExprId part) { found = found || exprs.at(part).kind == Expr::Kind::Load || needs_reading(exprs, part); });
  return found;
}

/// REQUIRES: loops of its own, of items or of a row.
const Loop& lane_of(const FusedKernel& kernel) {
  return kernel.lanes == Lanes::Row ? kernel.row.back() : kernel.items.back();
}

Neighbours neighbours_along(Definitions& definitions, const FusedKernel& kernel, const Loop& lane) {
  std::set<VariableId> loops = variables_of(kernel.items);
  loops.merge(variables_of(kernel.row));
  return {definitions, lane.variable, std::move(loops)};
}

/// The same as steps_to() for neighbours along `lane`.
std::optional<std::vector<SizeId>> steps_along(Definitions& definitions, const FusedKernel& kernel, const Loop& lane,
                                               const Access& access, TensorId tensor) {
  if (!is_float(definitions, tensor)) return std::nullopt;
  return neighbours_along(definitions, kernel, lane).steps(access);
}

/// Tells whether elements lie one after the other in the order of the items, all of these loops together.
bool lies_in_order(Definitions& definitions, const std::vector<Loop>& items, const Access& access) {
  SizeTable& sizes = definitions.sizes();
  if (!access.rest.empty()) return false;
  SizeId inner = sizes.one();
  for (size_t i = items.size(); i-- > 0;) {
    const auto step = access.steps.find(items[i].variable);
    if (step == access.steps.end() || sizes.values(step->second) != sizes.values(inner)) return false;
    if (i > 0) inner = sizes.product(inner, items[i].extent);
  }
  return true;
}

/// Tells whether the rows of most items are multiples of little, but what is stored goes on from one row to the next.
bool packs_across_rows(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Items || kernel.items.size() < 2) return false;
  const SizeId count = loop_steps(definitions.sizes(), kernel.items);
  const ByExample &items = definitions.sizes().values(count),
                  &lengths = definitions.sizes().values(kernel.items.back().extent);
  int64_t uneven = 0, all = 0;
  for (size_t graph = 0; graph < lengths.size(); ++graph) {
    all += items[graph];
    if (lengths[graph] % kLeastPack != 0) uneven += items[graph];
  }
  return 2 * uneven > all && std::ranges::all_of(kernel.stores, [&](const Store& store) {
           return lies_in_order(definitions, kernel.items, access_in(definitions, store.tensor, store.place));
         });
}

/// Elements of a row that threads have as those of PyTorch's kernel do, at most: of longer ones they would have too many.
int64_t most_in_order(SumOrder order) {
  switch (order) {
    case SumOrder::LayerNorm: return 4096;
    case SumOrder::GroupNorm: return 32768;
    case SumOrder::Softmax: return 2048;
    case SumOrder::Any: break;
  }
  return 0;
}

/// The order that all sums of a row that have one have.
SumOrder order_of(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Row || kernel.row.size() != 1 || !kernel.running.empty()) return SumOrder::Any;
  const ExprTable& exprs = definitions.exprs();
  const KernelPart whole = part_of(exprs, kernel, whole_of(kernel));
  std::set<SumOrder> orders;
  for (const ExprId id : reductions_in(exprs, whole.roots)) {
    if (is_row(kernel, exprs.at(id).variables)) orders.insert(exprs.at(id).order);
  }
  orders.erase(SumOrder::Any);
  if (orders.size() != 1) return SumOrder::Any;
  const SumOrder order = *orders.begin();
  const ByExample& lengths = definitions.sizes().values(kernel.row[0].extent);
  const bool fits = std::ranges::all_of(lengths, [&](int64_t length) {
    return length <= most_in_order(order) && (order != SumOrder::LayerNorm || length % kPackOfLayerNorm == 0);
  });
  return fits ? order : SumOrder::Any;
}

/// Tells whether it follows from a product that kernels compute in tiles, whose sums are not PyTorch's in any case.
/// met: what was looked at already, which many may take.
bool follows_from_tiles(const Definitions& definitions, TensorId id, std::set<TensorId>& met) {
  const Tensor& tensor = definitions.tensors()[id];
  if (tensor.is_there() || !met.insert(id).second) return false;
  return tensor.tiled ||
         std::ranges::any_of(tensor.takes, [&](TensorId part) { return follows_from_tiles(definitions, part, met); });
}

/// Tells whether neighbours of the lane are so near each other in memory that what a thread reads of several of them,
/// and what its neighbours read, lies in the same pieces of the cache.
bool steps_are_short(Definitions& definitions, const Access& access, VariableId lane) {
  constexpr int64_t kLongest = 32;  // elements
  if (access.irregular.contains(lane)) return false;
  const auto step = access.steps.find(lane);
  return step != access.steps.end() && definitions.sizes().largest(step->second) <= kLongest;
}

/// Tells whether and how a GPU's threads take several neighbours at once. What else is looked at must not move with the
/// lanes by larger steps, which threads side by side would make larger yet.
std::optional<Packing> packing_of(Definitions& definitions, const FusedKernel& kernel, const std::optional<Tile>& tile,
                                  SumOrder order) {
  if (order == SumOrder::GroupNorm || order == SumOrder::Softmax) return std::nullopt;
  const std::vector<Loop>& loops = kernel.lanes == Lanes::Row ? kernel.row : kernel.items;
  if (loops.empty() || (kernel.lanes == Lanes::Items && !kernel.row.empty()) ||
      has_other_loops(definitions.exprs(), kernel) || !kernel.running.empty())
    return std::nullopt;
  const Loop lane = loops.back();
  Packing packing;
  packing.across_rows = !tile && packs_across_rows(definitions, kernel);
  packing.steps.push_back(packing.across_rows ? loop_steps(definitions.sizes(), loops) : lane.extent);
  bool any = false;
  const auto fits = [&](TensorId tensor, const std::vector<IndexId>& place, bool is_near) {
    const Access access = access_in(definitions, tensor, place);
    if (const auto steps = steps_to(definitions, kernel, packing, access, tensor)) {
      any = true;
      add_moved(packing, *steps, tensor);
      return true;
    }
    if (!is_near && access.irregular.contains(lane.variable) &&
        !neighbours_along(definitions, kernel, lane).stays(access))
      return false;
    if (!jumps(definitions.sizes(), access, lane.variable)) return true;
    // In PyTorch's order a thread has neighbours of the row wherever these lie.
    std::set<TensorId> met;
    return order == SumOrder::LayerNorm && !follows_from_tiles(definitions, tensor, met);
  };
  for (const Store& store : kernel.stores) {
    if (!fits(store.tensor, store.place, false)) return std::nullopt;
  }
  if (order == SumOrder::LayerNorm) packing.steps.push_back(definitions.sizes().literal(kPackOfLayerNorm));
  if (tile) packing.steps.push_back(tile->across.extent);
  for (const ExprId load : loads_in(definitions.exprs(), kernel)) {
    const Expr expr = definitions.exprs().at(load);
    if (tile && std::ranges::find(tile->loads, load) != tile->loads.end()) {
      const Access access = access_in(definitions, expr.tensor, expr.places);
      const auto steps = steps_along(definitions, kernel, tile->across, access, expr.tensor);
      if (!steps) return std::nullopt;
      add_moved(packing, *steps, expr.tensor);
      continue;
    }
    const bool is_near = kernel.lanes == Lanes::Items && !needs_reading(definitions.exprs(), load);
    const auto is_short = [&] {
      return kernel.lanes == Lanes::Items &&
             steps_are_short(definitions, access_in(definitions, expr.tensor, expr.places), lane.variable);
    };
    if (!fits(expr.tensor, expr.places, is_near) && !is_short()) return std::nullopt;
  }
  return any ? std::optional(std::move(packing)) : std::nullopt;
}

/// Steps that each item has in all of its loops, where there are enough of them for several threads.
std::optional<SizeId> column_of(const SizeTable& sizes, const FusedKernel& kernel, const SplitRow* row) {
  if (kernel.lanes != Lanes::Items || kernel.items.empty() || row == nullptr) return std::nullopt;
  return sizes.largest(row->length) < kShortestColumn ? std::nullopt : std::optional(row->length);
}

/// How runs of the operands of a product are read at once, and which of them are.
std::optional<Packing> runs_of(Definitions& definitions, const FusedKernel& kernel, Product& product) {
  FusedKernel all = kernel;
  all.row = product.depth;
  Packing packing;
  for (ProductOperand* operand : {&product.rows, &product.columns}) {
    if (!operand->in_memory) continue;
    const Loop& lane = operand->along_depth ? product.depth.back() : operand->across.back();
    const Expr expr = definitions.exprs().at(operand->element);
    const Access access = access_in(definitions, expr.tensor, expr.places);
    const auto steps = steps_along(definitions, all, lane, access, expr.tensor);
    if (!steps) continue;
    operand->in_runs = true;
    add(packing.steps, lane.extent);
    add_moved(packing, *steps, expr.tensor);
  }
  return packing.tensors.empty() ? std::nullopt : std::optional(std::move(packing));
}

/// split: what it does of the kernel. row: that the kernel may be split into; nullptr: it cannot be.
KernelFacts facts_of(Definitions& definitions, const FusedKernel& kernel, const SplitKernel& split, const SplitRow* row,
                     bool tiles) {
  const KernelPart part = part_of(definitions.exprs(), kernel, split);
  SizeTable& sizes = definitions.sizes();
  KernelFacts facts;
  facts.items = loop_steps(sizes, kernel.items);
  facts.row = facts.steps = loop_steps(sizes, kernel.row);
  facts.row_work = kernel.running.empty() ? facts.row : sizes.product(sizes.literal(kWorkOfSums), facts.row);
  std::set<ExprId> met;
  for (const ExprId root : part.roots) collect_facts(definitions, root, split.given, met, facts);
  for (const Store* store : part.stores) facts.stored.push_back(store->tensor);
  for (const TensorId one : facts.stored) {
    if (const auto input = definitions.tensors()[one].overwrites) std::erase(facts.loaded, *input);
  }
  facts.product = product_of(definitions, kernel);
  if (facts.product) {
    facts.runs = runs_of(definitions, kernel, *facts.product);
    return facts;
  }
  if (tiles) facts.tile = tile_of(definitions, kernel);
  const bool is_whole = split.reductions.empty() && split.given.empty();
  if (is_whole) facts.order = order_of(definitions, kernel);
  facts.packing = packing_of(definitions, kernel, facts.tile, facts.order);
  if (facts.order == SumOrder::LayerNorm && !facts.packing) facts.order = SumOrder::Any;
  if (is_whole) facts.band = band_of(definitions, kernel);
  if (!facts.tile && !facts.packing && !facts.band) facts.column = column_of(sizes, kernel, row);
  facts.beside = lie_beside(definitions, kernel);
  for (const ExprId reduction : split.given) facts.shares_taken.push_back(definitions.exprs().at(reduction).tensor);
  for (const ExprId reduction : split.reductions)
    facts.shares_given.push_back(definitions.exprs().at(reduction).tensor);
  return facts;
}

}  // namespace

std::optional<std::vector<SizeId>> steps_to(Definitions& definitions, const FusedKernel& kernel, const Packing& packing,
                                            const Access& access, TensorId tensor) {
  if (!packing.across_rows) return steps_along(definitions, kernel, lane_of(kernel), access, tensor);
  if (!is_float(definitions, tensor) || !lies_in_order(definitions, kernel.items, access)) return std::nullopt;
  return std::vector<SizeId>{};
}

KernelFacts facts_of(Definitions& definitions, const FusedKernel& kernel, const std::optional<SplitRow>& row,
                     bool tiles) {
  return facts_of(definitions, kernel, whole_of(kernel), row ? &*row : nullptr, tiles);
}

KernelFacts facts_of_part(Definitions& definitions, const FusedKernel& kernel, const SplitRow& row, size_t i) {
  return facts_of(definitions, kernel, row.kernels[i], &row, true);
}

std::string share_name(const Definitions& definitions, TensorId of) {
  std::string name = definitions.tensors()[of].name + "_parts";
  const auto is_taken = [&](const Tensor& tensor) { return tensor.name == name; };
  while (std::ranges::any_of(definitions.tensors(), is_taken)) name += "_";
  return name;
}

}  // namespace passnet::author
