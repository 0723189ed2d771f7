// Copies and casts of a plan: x.contiguous(), x.to(dtype), x.clone(), y.copy_(x), … Each is a launch of a kernel of ours.
#include "pass/plan/library/copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "pass/plan/library/allocate.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

constexpr size_t kMostDims = 8;  // of include/passnet/builtin/copy.*
constexpr int64_t kThreads = 256;
constexpr int64_t kChunk = 16384;  // elements that one task of a CPU copies

/// One loop of a copy, the outermost first.
struct Loop {
  int64_t size, from, to;
};

/// Loops over all elements; neighbours that lie one after the other on both sides become one.
std::vector<Loop> loops_of(const ir::TensorType& from, const ir::TensorType& to) {
  std::vector<Loop> loops;
  for (size_t dim = 0; dim < to.shape.size(); ++dim) {
    if (to.shape[dim] == 1) continue;
    const Loop next{to.shape[dim], from.strides[dim], to.strides[dim]};
    if (!loops.empty() && loops.back().from == next.from * next.size && loops.back().to == next.to * next.size) {
      loops.back() = {loops.back().size * next.size, next.from, next.to};
    } else {
      loops.push_back(next);
    }
  }
  if (loops.empty()) loops.push_back({1, 1, 1});
  return loops;
}

}  // namespace

Result<void> launch_copy(PlanState& state, const View& from, const View& to) {
  const int64_t count = to.type.numel();
  if (count == 0) return {};
  const std::vector<Loop> loops = loops_of(from.type, to.type);
  if (loops.size() > kMostDims)
    return bad_pass(
        fmt::format("a copy over {} dimensions that cannot be joined, expected at most {}", loops.size(), kMostDims));
  Launch launch;
  launch.origin = KernelOrigin::Builtin;
  launch.kernel = "passnet_copy";
  launch.constants = {{"FROM", from.type.dtype},
                      {"TO", to.type.dtype},
                      {"RANK", static_cast<int64_t>(loops.size())},
                      {"DENSE", loops.size() == 1 && loops[0].from == 1 && loops[0].to == 1}};
  launch.block = kThreads;
  launch.grid = {state.on_gpu ? (count + kThreads - 1) / kThreads : (count + kChunk - 1) / kChunk};
  launch.args = {from, to, count};
  // The kernel takes the loops from the innermost on.
  const auto add = [&](int64_t Loop::*member, int64_t otherwise) {
    for (size_t i = 0; i < kMostDims; ++i)
      launch.args.emplace_back(i < loops.size() ? loops[loops.size() - 1 - i].*member : otherwise);
  };
  add(&Loop::size, 1);
  add(&Loop::from, 0);
  add(&Loop::to, 0);
  return add_launch(state, std::move(launch));
}

Result<Value> make_contiguous(PlanState& state, const View& view) {
  if (view.type.is_contiguous()) return Value(view);
  PASSNET_TRY(const View made, allocate(state, ir::contiguous(view.type.dtype, view.type.shape), std::nullopt));
  PASSNET_TRY_VOID(launch_copy(state, view, made));
  return Value(made);
}

Result<Value> convert(PlanState& state, const View& view, ir::DType dtype, bool always_copy) {
  if (view.type.dtype == dtype && !always_copy) return Value(view);
  PASSNET_TRY(const View made, allocate(state, {dtype, view.type.shape, strides_like(view.type)}, std::nullopt));
  PASSNET_TRY_VOID(launch_copy(state, view, made));
  return Value(made);
}

Result<Value> copy_into(PlanState& state, const View& to, const View& from) {
  PASSNET_TRY(const View spread, expand(from, to.type.shape));
  PASSNET_TRY_VOID(launch_copy(state, spread, to));
  return Value(to);
}

}  // namespace passnet::pass
