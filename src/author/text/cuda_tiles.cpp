#include <fmt/format.h>

#include "author/text/cuda_kernel.h"

namespace passnet::author {

// A block has a tile: its threads lie along the loads while these go to shared memory, and along the stores afterwards.
void CudaKernel::write_tiles() {
  const Loop& across = facts_.tile->across;
  const std::string own = variables_[across.variable], lane = lane_name();
  const std::string width = extent_text(*lane_), height = extent_text(across);
  const std::string near = fresh("near"), far = fresh("far"), place = fresh("tile"), next = fresh("tile");
  line(fmt::format("const Divided<{}> {}(task_index());", tiles_along(*lane_), place));
  line(fmt::format("const Divided<{}> {}({}.quotient);", tiles_along(across), next, place));
  line(fmt::format("const int64_t item = {}.quotient;", next));
  line(fmt::format("if (item >= {}) return;", product_text(facts_.tile->outer)));
  decode(facts_.tile->outer, "item");
  line(fmt::format("const int {} = thread_index() % {};", near, kTile));
  hoist({across.variable, lane_->variable});
  std::vector<std::string> names;
  for (const ExprId load : facts_.tile->loads) {
    names.push_back(fresh("shared"));
    // One column more, so that neither rows nor columns of it lie in one bank.
    line(fmt::format("__shared__ {} {}[{}][{}];", element(exprs_.at(load).tensor).kernel, names.back(), kTile,
                     kTile + 1));
  }
  const auto begin_of_tile = [&](const std::string& of) { return fmt::format("{}.remainder * {}", of, kTile); };
  const std::string rows =
      fmt::format("for (int {0} = thread_index() / {1}; {0} < {1}; {0} += thread_count / {1})", far, kTile);
  const std::string is_inside = fmt::format("if ({} < {} && {} < {})", own, height, lane, width);
  {
    const Scoped scope(*this);
    line("#pragma unroll");
    open(rows);
    line(fmt::format("const int64_t {} = {} + {}, {} = {} + {};", own, begin_of_tile(next), near, lane,
                     begin_of_tile(place), far));
    open(is_inside);
    for (size_t i = 0; i < names.size(); ++i) {
      const Expr expr = exprs_.at(facts_.tile->loads[i]);
      line(fmt::format("{}[{}][{}] = {}[{}];", names[i], far, near, name_of(expr.tensor),
                       offset_text(access_in(definitions_, expr.tensor, expr.places), lane)));
    }
    close();
    close();
  }
  line("block_barrier();");
  line(fmt::format("const int64_t {} = {} + {};", lane, begin_of_tile(place), near));
  for (size_t i = 0; i < names.size(); ++i)
    tiles_[facts_.tile->loads[i]] = fmt::format("{}[{}][{}]", names[i], near, far);
  line("#pragma unroll");
  open(rows);
  line(fmt::format("const int64_t {} = {} + {};", own, begin_of_tile(next), far));
  open(is_inside);
  const Scoped scope(*this);
  item_body();
  close();
  close();
}

}  // namespace passnet::author
