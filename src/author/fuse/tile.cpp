#include "author/fuse/tile.h"

#include <algorithm>
#include <set>

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

// Tiles of elements of 8 bytes that a block has shared memory for.
constexpr size_t kMostLoads = 5;
constexpr int64_t kSharedBytes = 48 * 1024;

/// Loads that are made whatever conditions say. Returns: whether there is no reduction.
bool collect_tile_loads(const ExprTable& exprs, ExprId id, std::set<ExprId>& met, std::vector<ExprId>& loads) {
  if (!met.insert(id).second) return true;
  const Expr& expr = exprs.at(id);
  if (expr.kind == Kind::Reduce) return false;
  if (expr.kind == Kind::Load) loads.push_back(id);
  if (expr.kind == Kind::Guard) return collect_tile_loads(exprs, expr.parts[0], met, loads);
  bool fine = true;
  exprs.for_each_part(id, [&](ExprId part) { fine = fine && collect_tile_loads(exprs, part, met, loads); });
  return fine;
}

/// Tells whether neighbours along the lane lie apart, wherever else the element is: by steps, or as windows that were
/// put together do.
bool lie_apart(Definitions& definitions, const Access& access, const Loop& lane) {
  const IndexTable& indices = definitions.exprs().indices();
  const SizeTable& sizes = definitions.sizes();
  std::vector<ExprId> elements;
  for (const auto& [index, factor] : access.rest) indices.elements_in(index, elements);
  if (!elements.empty()) return false;
  if (!access.irregular.contains(lane.variable)) return jumps(sizes, access, lane.variable);
  return !access.steps.contains(lane.variable) && std::ranges::all_of(access.rest, [&](const auto& part) {
    std::set<VariableId> moving;
    indices.variables_in(part.first, moving);
    return !moving.contains(lane.variable) || sizes.smallest(part.second) > 1;
  });
}

/// Computes Tile::may_be_large.
bool may_be_large(Definitions& definitions, const std::vector<ExprId>& loads) {
  const auto bytes_of = [&](ExprId load) {
    const Tensor& tensor = definitions.tensors()[definitions.exprs().at(load).tensor];
    ByExample bytes;
    for (const ir::DType dtype : definitions.elements()[tensor.element].by_example)
      bytes.push_back(static_cast<int64_t>(ir::size_bytes(dtype)));
    return bytes;
  };
  const ByExample first = bytes_of(loads[0]);
  ByExample all(first.size(), 0);
  for (const ExprId load : loads) {
    const ByExample bytes = bytes_of(load);
    for (size_t graph = 0; graph < all.size(); ++graph) all[graph] += kLargeTile * (kLargeTile + 1) * bytes[graph];
  }
  bool may = false;
  for (size_t graph = 0; graph < all.size(); ++graph) {
    if (first[graph] > kBytesInLargeTile) continue;
    if (all[graph] > kSharedBytes) return false;
    may = true;
  }
  return may;
}

}  // namespace

std::optional<Tile> tile_of(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Items || !kernel.row.empty() || kernel.items.size() < 2) return std::nullopt;
  ExprTable& exprs = definitions.exprs();
  const SizeTable& sizes = definitions.sizes();
  const Loop lane = kernel.items.back();
  std::set<ExprId> met;
  std::vector<ExprId> loads;
  for (const Store& store : kernel.stores) {
    if (!collect_tile_loads(exprs, store.value, met, loads)) return std::nullopt;
  }
  const auto is_long = [&](const Loop& loop) { return 2 * sizes.largest(loop.extent) >= kTile; };
  if (!is_long(lane)) return std::nullopt;
  std::optional<Tile> tile;
  for (const ExprId load : loads) {
    if (tile && tile->loads.size() == kMostLoads) break;
    const Expr expr = exprs.at(load);
    const Access access = access_in(definitions, expr.tensor, expr.places);
    if (!lie_apart(definitions, access, lane)) continue;
    for (const Loop& loop : kernel.items) {
      const bool is_across = loop.variable != lane.variable && !access.irregular.contains(loop.variable) &&
                             moves_by_one(sizes, access, loop.variable) && is_long(loop);
      if (!is_across || (tile && tile->across.variable != loop.variable)) continue;
      if (!tile) tile = Tile{loop, lane, {}, {}};
      tile->loads.push_back(load);
      break;
    }
  }
  if (!tile) return std::nullopt;
  tile->may_be_large = may_be_large(definitions, tile->loads);
  for (const Loop& loop : kernel.items) {
    if (loop.variable != lane.variable && loop.variable != tile->across.variable) tile->outer.push_back(loop);
  }
  return tile;
}

}  // namespace passnet::author
