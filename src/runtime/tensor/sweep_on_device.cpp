#include "runtime/tensor/sweep_on_device.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/isinf.h>
#include <ATen/ops/isnan.h>

#include <algorithm>
#include <functional>

namespace passnet::runtime {

namespace {

/// Elements looked at together: a dozen tensors of doubles are made of them.
constexpr int64_t kChunk = int64_t{1} << 24;

using Visit = std::function<void(const at::Tensor& expected, const at::Tensor& found)>;
void for_each_chunk(const at::Tensor& expected, const at::Tensor& found, const Visit& visit) {
  const at::Tensor a = expected.view(-1), b = found.view(-1);
  for (int64_t first = 0; first < a.numel(); first += kChunk) {
    const int64_t count = std::min(kChunk, a.numel() - first);
    visit(a.narrow(0, first, count), b.narrow(0, first, count));
  }
}

bool any(const at::Tensor& mask) { return mask.any().item<bool>(); }
int64_t count(const at::Tensor& mask) { return mask.sum().item<int64_t>(); }

at::Tensor differing(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor unequal = a.ne(b);
  return a.is_floating_point() ? unequal.logical_and(at::isnan(a).logical_and(at::isnan(b)).logical_not()) : unequal;
}

/// Those elements that differ, as doubles.
struct Differences {
  at::Tensor of, magnitude;  // |found - expected|, |expected|

  Differences(const at::Tensor& a, const at::Tensor& b, const at::Tensor& differ) {
    const at::Tensor expected = a.masked_select(differ).to(at::kDouble);
    of = b.masked_select(differ).to(at::kDouble).sub_(expected).abs_();
    magnitude = expected.abs();
  }
  bool are_within(const record::Tolerance& at) const {
    return at::isfinite(of).logical_and(of.le(magnitude.mul(at.rtol).add_(at.atol))).all().item<bool>();
  }
};

/// Bits of an element as one integer.
at::Tensor bits(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 1: return tensor.view(at::kByte);
    case 2: return tensor.view(at::kShort);
    case 4: return tensor.view(at::kInt);
    default: return tensor.view(at::kLong);
  }
}

}  // namespace

void sweep_on_device(const at::Tensor& expected, const at::Tensor& found, Sweep& result) {
  for_each_chunk(expected, found, [&](const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor differ = differing(a, b);
    if (!any(differ)) return;
    result.equal = false;
    const Differences all(a, b, differ);
    while (result.rung <= kLastRung && !all.are_within(result.ladder[static_cast<size_t>(result.rung - kFirstRung)]))
      ++result.rung;
    result.sum_abs += all.of.sum().item<double>();
    Sweep::keep_larger(result.max_abs, all.of.max().item<double>());
    const at::Tensor relative = all.of.div(all.magnitude).masked_select(all.magnitude.gt(0));
    if (relative.numel() > 0) Sweep::keep_larger(result.max_rel, relative.max().item<double>());
  });
}

Counts count_on_device(const at::Tensor& expected, const at::Tensor& found, const record::Tolerance& at) {
  Counts counts;
  for_each_chunk(expected, found, [&](const at::Tensor& a, const at::Tensor& b) {
    counts.different += count(bits(a).ne(bits(b)));
    const at::Tensor differ = differing(a, b);
    if (!a.is_floating_point()) {
      counts.has_beyond = counts.has_beyond || any(differ);
      return;
    }
    counts.expected_nan += count(at::isnan(a));
    counts.expected_inf += count(at::isinf(a));
    counts.found_nan += count(at::isnan(b));
    counts.found_inf += count(at::isinf(b));
    counts.has_beyond = counts.has_beyond || !Differences(a, b, differ).are_within(at);
  });
  return counts;
}

}  // namespace passnet::runtime
