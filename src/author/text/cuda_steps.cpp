#include <fmt/format.h>

#include "author/text/cuda_kernel.h"

namespace passnet::author {

namespace {

/// Steps whose reads are under way before the first of them is needed, and reads of a step from which that is too much.
constexpr int kAhead = 8;
constexpr size_t kMostLoads = 4;

}  // namespace

/// A read that waits behind a store, or behind a branch of a division, takes as long as all of these together.
void CudaKernel::open_steps(const std::vector<Loop>& loops, const std::vector<ExprId>& values) {
  ahead_.emplace_back();
  if (!loops.empty()) ahead_.back() = loads_ahead(loops.back(), values);
  if (ahead_.back().empty()) {
    open_loops(loops);
    return;
  }
  open_loops({loops.begin(), loops.end() - 1});
  const Loop& loop = loops.back();
  const std::string own = variables_[loop.variable], next = fresh("next"), end = end_of(loop);
  open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", next, begin_of(loop), end, kAhead));
  std::vector<std::string> names;
  for (const ExprId load : ahead_.back()) {
    names.push_back(fresh("ahead"));
    line(fmt::format("{} {}[{}];", element(exprs_.at(load).tensor).kernel, names.back(), kAhead));
  }
  const auto open_step = [&] {
    line("#pragma unroll");
    open(fmt::format("for (int step = 0; step < {}; ++step)", kAhead));
    line(fmt::format("const int64_t {} = {} + step;", own, next));
  };
  {
    const Scoped scope(*this);
    open_step();
    open(fmt::format("if ({} < {})", own, end));
    for (size_t i = 0; i < names.size(); ++i) {
      const Expr load = exprs_.at(ahead_.back()[i]);
      const std::string offset = offset_text(access_in(definitions_, load.tensor, load.places), lane_name());
      line(fmt::format("{}[step] = {}[{}];", names[i], name_of(load.tensor), offset));
    }
    close();
    close();
  }
  open_step();
  line(fmt::format("if ({} >= {}) break;", own, end));
  for (size_t i = 0; i < names.size(); ++i) steps_[ahead_.back()[i]] = names[i] + "[step]";
}

void CudaKernel::close_steps(const std::vector<Loop>& loops) {
  if (!ahead_.back().empty()) close();
  for (const ExprId load : ahead_.back()) steps_.erase(load);
  ahead_.pop_back();
  close_all(loops);
}

/// What each step reads elsewhere whatever is chosen; none where the loop is short, or changes what it reads.
std::vector<ExprId> CudaKernel::loads_ahead(const Loop& loop, const std::vector<ExprId>& values) {
  if (overwrites() || sizes_.largest(loop.extent) < kAhead) return {};
  std::vector<ExprId> loads = loads_of(values, false);
  std::erase_if(loads, [&](ExprId id) {
    const Expr& load = exprs_.at(id);
    return steps_.contains(id) || exprs_.has_running_sum(id) ||
           !access_in(definitions_, load.tensor, load.places).moves_with(loop.variable);
  });
  return loads.size() <= kMostLoads ? loads : std::vector<ExprId>();
}

}  // namespace passnet::author
