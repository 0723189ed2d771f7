#include <fmt/format.h>

#include <algorithm>

#include "author/text/cuda/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

/// Steps whose reads are under way before the first of them is needed, and reads of a step from which that is too much.
constexpr int kAhead = 8;
constexpr size_t kMostLoads = 4;

}  // namespace

/// A read that waits behind a store, or behind a branch of a division, takes as long as all of these together.
void CudaKernel::open_steps(const std::vector<Loop>& loops, const std::vector<ExprId>& values) {
  ahead_.push_back(loads_ahead(loops, values));
  if (!facts_.column && ahead_.back().empty()) {
    open_loops(loops);
    return;
  }
  std::string begin = "first", end, apart = " * DOWN";  // apart: how far one step is from the next
  if (facts_.column) {
    step_ = loops.size() == 1 ? variables_[loops[0].variable] : fresh("k");
    end = end_of_column();
  } else {
    open_loops({loops.begin(), loops.end() - 1});
    step_ = variables_[loops.back().variable];
    begin = begin_of(loops.back());
    end = end_of(loops.back());
    apart.clear();
  }
  if (ahead_.back().empty()) {
    open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += DOWN)", step_, begin, end));
    name_steps(loops);
    return;
  }
  const std::string next = fresh("from"), most = constant("ahead", kAhead, "steps whose reads are under way at once");
  open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}{4})", next, begin, end, most, apart));
  std::vector<std::string> names;
  for (const ExprId load : ahead_.back()) {
    names.push_back(array_name(load, "ahead"));
    line(fmt::format("{} {}[{}];", element(exprs_.at(load).tensor).kernel, names.back(), most));
  }
  const auto open_step = [&] {
    line("#pragma unroll");
    open(fmt::format("for (int step = 0; step < {}; ++step)", most));
    line(fmt::format("const int64_t {} = {} + step{};", step_, next, apart));
  };
  {
    const Scoped scope(*this);
    open_step();
    open(fmt::format("if ({} < {})", step_, end));
    name_steps(loops);
    for (size_t i = 0; i < names.size(); ++i) {
      const Expr load = exprs_.at(ahead_.back()[i]);
      const std::string offset = offset_text(access_in(definitions_, load.tensor, load.places), lane_name());
      line(fmt::format("{}[step] = {}[{}];", names[i], name_of(load.tensor), offset));
    }
    close();
    close();
  }
  open_step();
  line(fmt::format("if ({} >= {}) break;", step_, end));
  name_steps(loops);
  for (size_t i = 0; i < names.size(); ++i) steps_[ahead_.back()[i]] = names[i] + "[step]";
}

/// Names the step of each loop of a column.
void CudaKernel::name_steps(const std::vector<Loop>& loops) {
  names_of_steps_.first = out_.size();
  if (facts_.column && loops.size() > 1) decode(loops, step_);
  names_of_steps_.second = out_.size();
}

void CudaKernel::close_steps(const std::vector<Loop>& loops) {
  // Values that were read ahead may be all that goes by them.
  const auto [begin, end] = names_of_steps_;
  const auto is_named = [&](const Loop& loop) { return has_word(out_.substr(end), variables_[loop.variable]); };
  if (facts_.column && std::ranges::none_of(loops, is_named)) out_.erase(begin, end - begin);
  if (!ahead_.back().empty()) close();
  for (const ExprId load : ahead_.back()) steps_.erase(load);
  ahead_.pop_back();
  facts_.column ? close() : close_all(loops);
}

/// Returns loads of each step that go elsewhere whatever is chosen; none where the loop is short, or changes what it
/// reads.
std::vector<ExprId> CudaKernel::loads_ahead(const std::vector<Loop>& loops, const std::vector<ExprId>& values) {
  if (loops.empty() || overwrites()) return {};
  const std::vector<Loop> gone_through = facts_.column ? loops : std::vector<Loop>{loops.back()};
  if (most_steps(gone_through) < kAhead) return {};
  std::vector<ExprId> loads = loads_of(values, false);
  std::erase_if(loads, [&](ExprId id) {
    const Expr& load = exprs_.at(id);
    if (steps_.contains(id) || exprs_.has_running_sum(id)) return true;
    const Access access = access_in(definitions_, load.tensor, load.places);
    return std::ranges::none_of(gone_through, [&](const Loop& loop) { return access.moves_with(loop.variable); });
  });
  return loads.size() <= kMostLoads ? loads : std::vector<ExprId>();
}

}  // namespace passnet::author
