#include <fmt/format.h>

#include <utility>

#include "author/text/cuda/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

constexpr const char* kEach = "for (int each = 0; each < BAND; ++each)";

}  // namespace

/// A thread has a band of BAND places one below the other. What all of them need comes first, then their windows row by row
/// of the picture, then the rest of each. The last band of a column begins earlier, and is as high as the others.
void CudaKernel::write_bands() {
  const Loop& down = facts_.band->down;
  const std::string band = fresh("band"), own = std::exchange(variables_[down.variable], band);
  first_ = fresh("band_top");
  line("const int64_t item = global_index();");
  line(fmt::format("if (item >= {} * {} * {}) return;", sizes_.kernel_text(facts_.band->columns), extent_of_items(down),
                   extent_text(kernel_.items.back())));
  decode(kernel_.items, "item");
  line(fmt::format("const int64_t {0} = {1} * BAND < {2} - BAND ? {1} * BAND : {2} - BAND;", first_, band,
                   extent_text(down)));
  variables_[down.variable] = own;
  hoist_loads({down.variable});
  hoist({down.variable});
  std::set<ExprId> met;
  for (const ExprId root : part_.roots) write_windows_in(root, met);
  open_each();
  store_all(part_.stores);
  close();
}

/// The last loops of items but one go over bands.
std::string CudaKernel::extent_of_items(const Loop& loop) {
  if (!facts_.band || loop.variable != facts_.band->down.variable) return extent_text(loop);
  return fmt::format("ceil_div(int64_t({}), int64_t(BAND))", extent_text(loop));
}

/// A loop over the places of a band, up to close().
void CudaKernel::open_each() {
  line("#pragma unroll");
  open(kEach);
  line(fmt::format("const int64_t {} = {} + each;", variables_[facts_.band->down.variable], first_));
}

/// The windows in a value, of all places of the band. Where which of them is looked at is the same for all, so is the branch.
void CudaKernel::write_windows_in(ExprId id, std::set<ExprId>& met) {
  if (!met.insert(id).second || names_.contains(id)) return;
  const Expr expr = exprs_.at(id);
  if (const auto window = facts_.band->windows.find(id); window != facts_.band->windows.end())
    return write_window(id, window->second);
  if (expr.kind == Kind::Reduce) return;
  if (expr.kind != Kind::Guard) {
    exprs_.for_each_part(id, [&](ExprId part) { write_windows_in(part, met); });
    return;
  }
  if (!exprs_.has_reduction(id) || exprs_.has_reduction(expr.parts[0]) ||
      moves_with(expr.parts[0], {facts_.band->down.variable}))
    return write_windows_in(expr.parts[0], met);
  const std::string condition = value(expr.parts[0]), name = name_for(id);
  line(fmt::format("{} {}[BAND];", type_of(id), name));
  branches(condition, expr, [&](ExprId branch) {
    std::set<ExprId> met_there;
    write_windows_in(branch, met_there);
    open_each();
    const Scoped scope(*this);
    line(fmt::format("{}[each] = {};", name, value(branch)));
    close();
  });
  names_[id] = name + "[each]";
}

void CudaKernel::write_window(ExprId id, const Window& window) {
  const Expr expr = exprs_.at(id);
  const std::vector<Loop> loops = loops_of(expr);
  const std::string zero = neutral(expr.fold, expr.compute), total = name_for(id);
  const bool in_blocks = adds_many(expr, loops);
  const std::string sum = in_blocks ? fresh(total + "_block") : total;
  for (const std::string& name : in_blocks ? std::vector{total, sum} : std::vector{total}) {
    line(fmt::format("{} {}[BAND];", type_of(id), name));
    line("#pragma unroll");
    line(fmt::format("{} {}[each] = {};", kEach, name, zero));
  }
  const auto by_step = [&](const char* times) {
    return sizes_.is_one(window.step) ? std::string(times)
                                      : fmt::format("{} * {}", times, sizes_.kernel_text(window.step));
  };
  const std::string length = sizes_.kernel_text(indices_.extent(window.down));
  const VariableId down = facts_.band->down.variable;
  {
    const OtherLoops other(*this);
    const Scoped scope(*this);
    for (const Loop& loop : loops) {
      variables_[loop.variable] = fresh("k");
      line("#pragma unroll");
      const std::string end =
          loop.variable == window.down ? fmt::format("{} + {}", by_step("(BAND - 1)"), length) : extent_text(loop);
      open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", variables_[loop.variable], end));
    }
    const std::string row = variables_[window.down], own = std::exchange(variables_[down], first_);
    write_shared(expr.parts[0], window);
    line("#pragma unroll");
    open(kEach);
    variables_[down] = fmt::format("({} + each)", first_);
    variables_[window.down] = fresh("k");
    line(fmt::format("const int64_t {} = {} - {};", variables_[window.down], row, by_step("each")));
    line(fmt::format("if ({0} < 0 || {0} >= {1}) continue;", variables_[window.down], length));
    const std::string mine = sum + "[each]";
    line(fmt::format("{} = {};", mine, combined(expr.fold, expr.compute, mine, value(expr.parts[0]), false)));
    if (in_blocks) {
      open_end_of_block(loops);
      line(fmt::format("{0}[each] = {0}[each] + {1};", total, mine));
      line(fmt::format("{} = {};", mine, zero));
      close();
    }
    close();
    close_all(loops);
    variables_[down] = own;
  }
  names_[id] = total + "[each]";
}

/// Writes the parts of a value that neighbours in a band have in common, as large as they are.
void CudaKernel::write_shared(ExprId id, const Window& window) {
  const Expr& expr = exprs_.at(id);
  if (window.parts.at(id) != InBand::Own) {
    value(id);
  } else if (expr.kind == Kind::Guard) {
    write_shared(expr.parts[0], window);  // the others are looked at where it holds
  } else if (expr.kind != Kind::Reduce) {
    exprs_.for_each_part(id, [&](ExprId part) { write_shared(part, window); });
  }
}

}  // namespace passnet::author
