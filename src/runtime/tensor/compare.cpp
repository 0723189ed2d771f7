#include "runtime/tensor/compare.h"

#include <ATen/ops/_unique2.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/searchsorted.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "record/tolerance.h"
#include "record/verdict.h"
#include "record/wrong_places.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/sweep.h"
#include "runtime/tensor/sweep_on_device.h"

namespace passnet::runtime {

namespace {

template <class T>
double distance(T a, T b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}
double distance(int64_t a, int64_t b) { return std::abs(static_cast<double>(a) - static_cast<double>(b)); }
template <class T>
double distance(c10::complex<T> a, c10::complex<T> b) {
  return std::hypot(double(a.real()) - double(b.real()), double(a.imag()) - double(b.imag()));
}
template <class T>
double magnitude(T a) {
  return std::abs(static_cast<double>(a));
}
template <class T>
double magnitude(c10::complex<T> a) {
  return std::hypot(double(a.real()), double(a.imag()));
}

/// Equal as values, or both not a number.
template <class T>
bool same_value(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return a == b;
  else
    return a == b || (std::isnan(magnitude(a)) && std::isnan(magnitude(b)));
}

template <class T>
void sweep(const at::Tensor& expected, const at::Tensor& found, Sweep& result) {
  const auto* a = static_cast<const T*>(expected.const_data_ptr());
  const auto* b = static_cast<const T*>(found.const_data_ptr());
  // Parts of one size, added up in order: sums do not depend on the threads.
  const int64_t elements = expected.numel();
  std::vector<Sweep> parts(static_cast<size_t>((elements + kPartElements - 1) / kPartElements), result);
  for_each_range(elements, kPartElements, [&](int64_t first, int64_t last) {
    Sweep& part = parts[static_cast<size_t>(first / kPartElements)];
    for (int64_t i = first; i < last; ++i) {
      if (!same_value(a[i], b[i])) part.add(distance(a[i], b[i]), magnitude(a[i]));
    }
  });
  for (const Sweep& part : parts) result.merge(part);
}

template <class T>
std::string value_text(T value) {
  if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else if constexpr (sizeof(T) == 2)
    return fmt::format("{:.5g}", static_cast<float>(value));  // tells any two neighbours apart
  else
    return fmt::format("{}", value);
}
template <class T>
std::string value_text(c10::complex<T> value) {
  return fmt::format("{}{:+}i", value.real(), value.imag());
}
template <class T>
void count_special(T value, int64_t& nans, int64_t& infinities) {
  if constexpr (!std::is_integral_v<T>) {
    const double size = magnitude(value);
    nans += std::isnan(size);
    infinities += std::isinf(size);
  }
}

/// Whether an element is beyond a tolerance. Integers beyond 2^53 may differ by less than a double tells.
template <class T>
bool is_beyond(T expected, T found, const record::Tolerance& at) {
  if (same_value(expected, found)) return false;
  return std::is_integral_v<T> || !is_within(distance(expected, found), magnitude(expected), at);
}

void add(const Counts& counts, record::Mismatch& told) {
  told.expected_nan += counts.expected_nan;
  told.expected_inf += counts.expected_inf;
  told.found_nan += counts.found_nan;
  told.found_inf += counts.found_inf;
  told.different += counts.different;
}

/// How many threads look for wrong places at a time, each with what it knows of every coordinate.
int64_t stretches_of(const std::vector<int64_t>& shape) {
  constexpr int64_t kMost = 32, kMostCoordinates = int64_t{1} << 22;
  const int64_t coordinates = std::accumulate(shape.begin(), shape.end(), int64_t{1});
  return std::clamp<int64_t>(kMostCoordinates / coordinates, 1, kMost);
}

/// A second pass, over outputs that are known to differ.
template <class T>
void explain(const at::Tensor& expected, const at::Tensor& found, const record::Tolerance& at, record::Mismatch& told) {
  const auto* a = static_cast<const T*>(expected.const_data_ptr());
  const auto* b = static_cast<const T*>(found.const_data_ptr());
  const int64_t elements = expected.numel();
  std::vector<Counts> parts(static_cast<size_t>((elements + kPartElements - 1) / kPartElements));
  for_each_range(elements, kPartElements, [&](int64_t first, int64_t last) {
    Counts& part = parts[static_cast<size_t>(first / kPartElements)];
    for (int64_t i = first; i < last; ++i) {
      count_special(a[i], part.expected_nan, part.expected_inf);
      count_special(b[i], part.found_nan, part.found_inf);
      part.different += std::memcmp(&a[i], &b[i], sizeof(T)) != 0;
      part.has_beyond = part.has_beyond || is_beyond(a[i], b[i], at);
    }
  });
  // What is wrong is told in its order, and as a rule lies in few parts; where it is everywhere that takes many threads.
  const std::vector<int64_t> shape = expected.sizes().vec();
  std::vector<record::WrongPlaces> stretches(static_cast<size_t>(stretches_of(shape)), record::WrongPlaces(shape));
  const size_t length = (parts.size() + stretches.size() - 1) / stretches.size();
  for_each_part(static_cast<int64_t>(stretches.size()), [&](int64_t stretch) {
    const size_t begin = static_cast<size_t>(stretch) * length;
    for (size_t k = begin; k < std::min(begin + length, parts.size()); ++k) {
      if (!parts[k].has_beyond) continue;
      const auto first = static_cast<int64_t>(k) * kPartElements;
      for (int64_t i = first; i < std::min(first + kPartElements, elements); ++i) {
        if (is_beyond(a[i], b[i], at)) stretches[static_cast<size_t>(stretch)].add(i);
      }
    }
  });
  record::WrongPlaces& places = stretches.front();
  for (size_t i = 1; i < stretches.size(); ++i) places.add(stretches[i]);
  for (const Counts& part : parts) add(part, told);
  if (places.count() > 0) {
    told.expected = value_text(a[places.first()]);
    told.found = value_text(b[places.first()]);
  }
  told.beyond = places.count();
  told.first = places.first_index();
  told.where = places.describe();
}

template <class T>
bool all_within(const at::Tensor& expected, const at::Tensor& found, const record::Tolerance& at) {
  const auto* a = static_cast<const T*>(expected.const_data_ptr());
  const auto* b = static_cast<const T*>(found.const_data_ptr());
  constexpr int64_t kBlock = 4096;  // long enough for the compiler to compute several at a time
  for (int64_t first = 0; first < expected.numel(); first += kBlock) {
    const int64_t last = std::min(first + kBlock, expected.numel());
    bool fine = true;
    for (int64_t i = first; i < last; ++i) {
      const double difference = distance(a[i], b[i]), size = magnitude(a[i]);
      fine &= difference <= at.atol + at.rtol * size && size <= std::numeric_limits<double>::max();
    }
    if (fine) continue;
    for (int64_t i = first; i < last; ++i) {
      if (!same_value(a[i], b[i]) && (std::is_integral_v<T> || !is_within(distance(a[i], b[i]), magnitude(a[i]), at)))
        return false;
    }
  }
  return true;
}

/// What is done with the elements of a type.
struct Comparison {
  bool (*all_within)(const at::Tensor&, const at::Tensor&, const record::Tolerance&);
  void (*sweep)(const at::Tensor&, const at::Tensor&, Sweep&);
  void (*explain)(const at::Tensor&, const at::Tensor&, const record::Tolerance&, record::Mismatch&);
};
template <class T>
constexpr Comparison kComparison{all_within<T>, sweep<T>, explain<T>};

const Comparison& comparison_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return kComparison<float>;
    case at::kDouble: return kComparison<double>;
    case at::kHalf: return kComparison<c10::Half>;
    case at::kBFloat16: return kComparison<c10::BFloat16>;
    case at::kChar: return kComparison<int8_t>;
    case at::kShort: return kComparison<int16_t>;
    case at::kInt: return kComparison<int32_t>;
    case at::kLong: return kComparison<int64_t>;
    case at::kByte: return kComparison<uint8_t>;
    case at::kBool: return kComparison<uint8_t>;
    case at::kComplexFloat: return kComparison<c10::complex<float>>;
    default: return kComparison<c10::complex<double>>;
  }
}

/// What is beyond the tolerance is looked for on the CPU, element by element.
void explain_from_device(const at::Tensor& expected, const at::Tensor& found, const record::Tolerance& at,
                         record::Mismatch& told) {
  const Counts counts = count_on_device(expected, found, at);
  if (counts.has_beyond)
    comparison_of(expected.scalar_type()).explain(expected.cpu(), found.cpu(), at, told);
  else
    add(counts, told);
}

}  // namespace

record::OutputCheck compare_tensors(const at::Tensor& expected, const at::Tensor& found) {
  if (found.device() != expected.device() || (!expected.is_cpu() && expected.is_complex()))
    return compare_tensors(expected.cpu(), found.cpu());
  record::OutputCheck check;
  check.expected_dtype = ir::name(dtype_of(expected.scalar_type()));
  check.found_dtype = ir::name(dtype_of(found.scalar_type()));
  check.expected_shape = expected.sizes().vec();
  check.found_shape = found.sizes().vec();
  if (check.expected_dtype != check.found_dtype || check.expected_shape != check.found_shape) {
    check.max_abs_diff = check.mean_abs_diff = check.max_rel_diff = std::numeric_limits<double>::quiet_NaN();
    return check;
  }
  Sweep result(check.expected_dtype);
  const Comparison& comparison = comparison_of(expected.scalar_type());
  const at::Tensor a = expected.contiguous(), b = found.contiguous();
  (a.is_cpu() ? comparison.sweep : sweep_on_device)(a, b, result);
  const bool exact = !expected.is_floating_point() && !expected.is_complex();
  check.equal = result.equal;
  check.passes_from = exact && !result.equal ? kNoRung : result.rung;
  check.max_abs_diff = result.max_abs;
  check.mean_abs_diff = expected.numel() == 0 ? 0 : result.sum_abs / static_cast<double>(expected.numel());
  check.max_rel_diff = result.max_rel;
  if (!result.equal)
    (a.is_cpu() ? comparison.explain : explain_from_device)(
        a, b, record::tolerance(check.expected_dtype, record::kCorrectT), check.mismatch.emplace());
  return check;
}

bool passes(const at::Tensor& expected, const at::Tensor& found, int t) {
  if (expected.scalar_type() != found.scalar_type() || expected.sizes() != found.sizes()) return false;
  if (t >= kNoRung) return true;
  const record::Tolerance at = record::tolerance(ir::name(dtype_of(expected.scalar_type())), t);
  return comparison_of(expected.scalar_type()).all_within(expected.contiguous(), found.contiguous(), at);
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || !a.is_contiguous()) return false;
  if (a.numel() == 0) return true;
  if (a.device() != b.device()) return same_bytes(a.cpu(), b.cpu());
  if (!a.is_cpu()) return at::equal(a.view(-1).view(at::kByte), b.view(-1).view(at::kByte));
  return std::memcmp(a.const_data_ptr(), b.const_data_ptr(), static_cast<size_t>(a.nbytes())) == 0;
}

bool is_few_steps_off(const at::Tensor& eager, const at::Tensor& found) {
  constexpr int64_t kFewestElements = 4096, kElementsOfAValue = 16, kMostOff = 2, kElementsForAnother = 100'000;
  if (eager.numel() < kFewestElements || eager.sizes() != found.sizes() || !eager.is_floating_point()) return false;
  const at::Tensor expected = eager.cpu().to(at::kDouble).flatten(), other = found.cpu().to(at::kDouble).flatten();
  const at::Tensor off = expected.ne(other);
  const int64_t count = off.sum().item<int64_t>();
  if (count > kMostOff + expected.numel() / kElementsForAnother) return false;
  const at::Tensor steps = std::get<0>(at::_unique2(expected));
  if (steps.numel() * kElementsOfAValue > expected.numel() || steps.isnan().any().item<bool>()) return false;
  const at::Tensor values = other.masked_select(off);
  const at::Tensor from = at::searchsorted(steps, expected.masked_select(off));
  const at::Tensor to = at::searchsorted(steps, values).clamp_max_(steps.numel() - 1);
  return steps.index_select(0, to).equal(values) && to.sub(from).abs_().le(1).all().item<bool>();
}

}  // namespace passnet::runtime
