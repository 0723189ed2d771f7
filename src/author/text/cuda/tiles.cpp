#include <fmt/format.h>

#include <utility>

#include "author/text/cuda/kernel.h"

namespace passnet::author {

namespace {

/// Values of a thread, 16 elements each, that it reads before it needs the first of them.
constexpr size_t kMostAheadOfTile = 4;

}  // namespace

// A block has a tile: its threads lie along the loads while these go to shared memory, and along the stores afterwards.
void CudaKernel::write_tiles() {
  const Loop& across = facts_.tile->across;
  const std::string own = variables_[across.variable], lane = lane_name();
  const std::string width = extent_text(*lane_), height = extent_text(across);
  const std::string place = fresh("tile_beside"), next = fresh("tile_below");
  line(fmt::format("const Divided<{}> {}(task_index());", tiles_along(*lane_, "TILE"), place));
  line(fmt::format("const Divided<{}> {}({}.quotient);", tiles_along(across, "TILE"), next, place));
  line(fmt::format("const int64_t item = {}.quotient;", next));
  line(fmt::format("if (item >= {}) return;", product_text(facts_.tile->outer)));
  decode(facts_.tile->outer, "item");
  const std::string top = fresh("tile_top"), start = fresh("tile_start");
  line(fmt::format("const int64_t {} = {}.remainder * TILE, {} = {}.remainder * TILE;", top, next, start, place));
  hoist({across.variable, lane_->variable});
  read_tiles(top, start);
  line(fmt::format("const int64_t {} = {} + thread_index() % (TILE / PACK) * PACK;", lane, start));
  line(fmt::format("if ({} >= {}) return;", lane, width));
  line("constexpr int below = thread_count / (TILE / PACK), parts = TILE / below;");
  const std::string far = fresh("far");
  const auto open_parts = [&] {
    line("#pragma unroll");
    open("for (int part = 0; part < parts; ++part)");
    line(fmt::format("const int {} = thread_index() / (TILE / PACK) + part * below;", far));
    line(fmt::format("const int64_t {} = {} + {};", own, top, far));
  };
  for (auto& [load, tile] : tiles_) tile = fmt::format("{}[{} - {} + lane][{}]", tile, lane, start, far);
  // Reads beside the tiles are on their way before the first of them is needed.
  const std::vector<ExprId> ahead = packs_in({}, part_.stores);
  if (!ahead.empty() && ahead.size() <= kMostAheadOfTile) {
    for (const ExprId id : ahead) {
      const std::string packs = array_name(id, "packs");
      line(fmt::format("floats<PACK> {}[parts];", packs));
      packs_[id] = packs + "[part]";
    }
    open_parts();
    open(fmt::format("if ({} < {})", own, height));
    for (const ExprId id : ahead) write_pack(packs_[id], id);
    close();
    close();
  }
  open_parts();
  line(fmt::format("if ({} >= {}) break;", own, height));
  const Scoped scope(*this);
  hoist_loads({lane_->variable});
  load_packs({}, part_.stores);
  hoist({lane_->variable});
  by_pack({}, part_.stores);
  close();
}

/// To shared memory, whose names `tiles_` then has.
void CudaKernel::read_tiles(const std::string& top, const std::string& start) {
  const Loop& across = facts_.tile->across;
  const std::string own = std::exchange(variables_[across.variable], top);
  for (const ExprId load : facts_.tile->loads) {
    tiles_[load] = array_name(load, "shared");
    line(fmt::format("__shared__ {} {}[TILE][TILE + 1];", element(exprs_.at(load).tensor).kernel, tiles_[load]));
  }
  for (const ExprId load : facts_.tile->loads) {
    const Expr expr = exprs_.at(load);
    const Access access = access_in(definitions_, expr.tensor, expr.places);
    line(fmt::format("read_tile<PACK>({}, {}, {} - {}, {} - {});", tiles_[load], along_lane(expr.tensor, access, start),
                     extent_text(*lane_), start, extent_text(across), top));
  }
  line("block_barrier();");
  variables_[across.variable] = own;
}

}  // namespace passnet::author
