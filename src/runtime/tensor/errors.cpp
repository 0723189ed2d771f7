#include "runtime/tensor/errors.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/rows.h"

namespace passnet::runtime {

namespace {

/// An element type: digits of its significand behind the point, the exponent of its smallest normal number, its largest
/// number, half of what 1 and the next number differ by, and how many of these an honest answer may be off, whatever
/// eager loses, on recorded values and on other input kinds: sums in another order in the wide types, the rounding of the
/// result and of one value before it in the short ones.
struct Precision {
  int digits, min_exponent;
  double largest, unit, honest, honest_on_kinds;
};
Precision precision_of(at::ScalarType type) {
  switch (type) {
    case at::kHalf: return {10, -14, 65504, 0x1p-11, 2, 2};
    case at::kBFloat16: return {7, -126, 0x1.fep127, 0x1p-8, 2, 2};
    case at::kFloat: return {23, -126, std::numeric_limits<float>::max(), 0x1p-24, 32, 128};
    default: return {52, -1022, std::numeric_limits<double>::max(), 0x1p-53, 32, 128};
  }
}

constexpr int64_t kFewestElements = 64;  // of fewer, no percentile is taken
constexpr double kTail = 0.001;          // of the elements, that the percentile leaves out
constexpr int64_t kFewInTail = 16;
// Of what rows usually hold, that counts as a row's scale where it holds less: where all but a few numbers were clamped to 0,
// these are what cancelling left.
constexpr double kLeastScale = 1.0 / 16;

/// 2^exponent.
double power_of_two(int exponent) {
  if (exponent < -1022) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// 2^e of |value| in [2^e, 2^(e+1)).
int exponent_of(double value) { return static_cast<int>((std::bit_cast<uint64_t>(value) >> 52) & 0x7ff) - 1023; }

/// Counts of values by their size, a sixteenth of an octave apart: for percentiles without sorting.
class Histogram {
 public:
  void add(double value) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(std::min(value, 0x1p127)));
    ++counts_[(bits & 0x7fffffff) >> 19];
    ++total_;
  }
  void merge(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
  }
  /// The upper end of where all but `tail` of the values lie.
  double percentile() const {
    if (total_ < kFewestElements) return 0;
    const auto tail = std::max(static_cast<int64_t>(kTail * static_cast<double>(total_)), kFewInTail);
    int64_t above = 0;
    for (size_t i = counts_.size(); i-- > 0;) {
      above += counts_[i];
      if (above > tail) return std::bit_cast<float>(static_cast<uint32_t>(i + 1) << 19);
    }
    return 0;
  }

 private:
  std::array<int64_t, 4096> counts_{};
  int64_t total_ = 0;
};

/// What is added up over rows.
struct Sums {
  double squares = 0, squares_of_values = 0, row = 0;
  double terms = 0;  // the largest error of a small element beyond the rounding of the result, by the scale of its row
  int64_t zeros = 0, misplaced = 0;
  Histogram ulps;

  void merge(const Sums& other) {
    squares += other.squares;
    squares_of_values += other.squares_of_values;
    row = std::max(row, other.row);
    terms = std::max(terms, other.terms);
    zeros += other.zeros;
    misplaced += other.misplaced;
    ulps.merge(other.ulps);
  }
  record::Errors errors() const {
    record::Errors errors;
    errors.norm = squares_of_values > 0 ? std::sqrt(squares / squares_of_values) : squares > 0 ? HUGE_VAL : 0;
    if (std::isnan(errors.norm)) errors.norm = 0;  // squares beyond float64, whose rows tell as much
    errors.row = row;
    errors.ulp = ulps.percentile();
    errors.zeros = zeros;
    errors.misplaced = misplaced;
    return errors;
  }
};

bool same_kind(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b; }

/// As the type would hold it, as far as infinities go.
double held(double exact, const Precision& type) {
  return std::isfinite(exact) && std::abs(exact) > type.largest * (1 + type.unit) ? std::copysign(HUGE_VAL, exact)
                                                                                  : exact;
}

/// The largest difference in a row by its largest value, or by `least` where that is larger. Below the normal numbers a type's
/// digits get fewer: a row of such values is measured as one of the smallest normal number is.
double row_error(double largest, double scale, double least, const Precision& type) {
  if (largest <= 0) return 0;
  return scale > 0 ? largest / std::max({scale, least, power_of_two(type.min_exponent)}) : HUGE_VAL;
}

/// What rows are measured by. scale_of: the largest value of a row that can be compared.
template <class ScaleOf>
RowScales scales_of(int64_t rows, int64_t columns, const ScaleOf& scale_of) {
  RowScales scales{std::vector<double>(static_cast<size_t>(rows))};
  for_each_range(rows, std::max<int64_t>(1, kPartElements / columns), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) scales.of_rows[static_cast<size_t>(row)] = scale_of(row);
  });
  std::vector<double> some = scales.of_rows;
  std::erase(some, 0.0);
  if (some.empty()) return scales;
  const auto middle = some.begin() + static_cast<ptrdiff_t>(some.size() / 2);
  std::ranges::nth_element(some, middle);
  scales.least = kLeastScale * *middle;
  return scales;
}

/// One row. found: null for an answer that is off everywhere by what is honest in its largest element. scale, least: as
/// row_error(). zero: share of `scale` below which 0 is right.
void add_rows(const double* exact, const double* eager, const double* found, int64_t columns, double scale,
              double least, double zero, const Precision& type, Sums& sums) {
  const double honest = type.honest * type.unit * scale;
  const double smallest = std::max(power_of_two(type.min_exponent), scale * zero);
  double largest = 0;
  for (int64_t i = 0; i < columns; ++i) {
    const double truth = held(exact[i], type);
    const bool defined = std::isfinite(truth), computable = std::isfinite(eager[i]);
    if (!defined || !computable) {
      // Where the type overflows on the way, or only at the end, answers differ by how they are computed.
      if (found != nullptr && same_kind(truth, eager[i]) && !same_kind(truth, found[i])) ++sums.misplaced;
      continue;
    }
    if (found != nullptr && !std::isfinite(found[i])) {
      ++sums.misplaced;
      continue;
    }
    const double difference = found != nullptr ? std::abs(found[i] - truth) : honest;
    const int exponent = std::max(exponent_of(std::abs(truth)), type.min_exponent);
    const double ulp = power_of_two(std::max(exponent - type.digits, -1074));
    sums.squares += difference * difference;
    sums.squares_of_values += truth * truth;
    sums.ulps.add(difference / ulp);
    largest = std::max(largest, difference);
    if (std::abs(truth) < 2 * type.unit * scale && difference > 4 * type.unit * std::abs(truth)) {
      sums.terms = std::max(sums.terms, difference / scale);
    }
    // Nor is a number asked for that eager does not have either: the terms of a short type may be rounded to it.
    const bool known = std::abs(eager[i] - truth) < std::abs(truth) / 2;
    if (found != nullptr && found[i] == 0 && known && std::abs(truth) >= smallest) ++sums.zeros;
  }
  sums.row = std::max(sums.row, row_error(largest, scale, least, type));
}

/// Of all rows; add: a row's. Parts of one size, added up in order: sums do not depend on the threads.
template <class Add>
Sums add_up(int64_t rows, int64_t columns, const Add& add) {
  const int64_t length = std::max<int64_t>(1, kPartElements / columns);
  std::vector<Sums> parts(static_cast<size_t>((rows + length - 1) / length));
  for_each_range(rows, length, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) add(row, parts[static_cast<size_t>(first / length)]);
  });
  Sums all;
  for (const Sums& part : parts) all.merge(part);
  return all;
}

/// scales: of these rows, and maybe of more behind them.
Sums measure(const at::Tensor& exact, const at::Tensor& eager, const at::Tensor* found, int64_t columns,
             const RowScales& scales, at::ScalarType scalar_type) {
  const Precision type = precision_of(scalar_type);
  const int64_t rows = exact.numel() / columns;
  const auto* truth = exact.const_data_ptr<double>();
  const auto* usual = eager.const_data_ptr<double>();
  const double* other = found != nullptr ? found->const_data_ptr<double>() : nullptr;
  return add_up(rows, columns, [&](int64_t row, Sums& sums) {
    const int64_t at = row * columns;
    add_rows(truth + at, usual + at, other != nullptr ? other + at : nullptr, columns,
             scales.of_rows[static_cast<size_t>(row)], scales.least, scales.zero, type, sums);
  });
}

/// Returns the share of a row's largest value below which 0 is right, as terms that cancel leave rounding alone. Terms are rounded as
/// float32's, in which short types are summed up as well, unless eager shows that it rounds them to a short type: an answer may
/// then add them in another order.
double share_for_zero(const Sums& eager, const Precision& type) {
  return std::max(type.digits > 23 ? 0x1p-50 : 0x1p-21, std::min(2 * eager.terms, 2 * type.unit));
}

RowScales scales_of(const at::Tensor& exact, const at::Tensor& eager, int64_t columns, at::ScalarType scalar_type) {
  const Precision type = precision_of(scalar_type);
  const auto* truth = exact.const_data_ptr<double>();
  const auto* usual = eager.const_data_ptr<double>();
  return scales_of(exact.numel() / columns, columns, [&](int64_t row) {
    double scale = 0;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
      if (std::isfinite(held(truth[i], type)) && std::isfinite(usual[i])) scale = std::max(scale, std::abs(truth[i]));
    }
    return scale;
  });
}

at::Tensor widened(const at::Tensor& tensor) { return tensor.cpu().to(at::kDouble).contiguous(); }

}  // namespace

Truth::Truth(const at::Tensor& exact, const at::Tensor& eager, bool any_for_nan)
    : exact_(widened(exact)),
      eager_(widened(eager)),
      any_for_nan_(any_for_nan),
      type_(eager.scalar_type()),
      columns_(row_length(eager.sizes())) {
  PASSNET_CHECK(exact.sizes() == eager.sizes(), "both sides of a comparison have one shape");
  // Elements at which eager has NaN are asked of no answer.
  if (any_for_nan) exact_ = exact_.masked_fill(eager_.isnan(), std::numeric_limits<double>::quiet_NaN());
  if (any_for_nan) eager_ = eager_.masked_fill(eager_.isnan(), 0);
  scales_ = scales_of(exact_, eager_, columns_, type_);
  const Sums sums = measure(exact_, eager_, &eager_, columns_, scales_, type_);
  eager_errors_ = sums.errors();
  scales_.zero = share_for_zero(sums, precision_of(type_));
  honest_ulp_ = measure(exact_, eager_, nullptr, columns_, scales_, type_).errors().ulp;
}

record::Errors Truth::allowed(bool recorded) const {
  const Precision type = precision_of(type_);
  const double factor = recorded ? kFactor : kOtherKindFactor;
  const double rounded = recorded ? type.honest : type.honest_on_kinds;
  const double honest = rounded * type.unit;
  record::Errors allowed;
  allowed.norm = factor * std::max(eager_errors_.norm, honest);
  allowed.row = factor * std::max(eager_errors_.row, honest);
  allowed.ulp = factor * std::max(eager_errors_.ulp, rounded / type.honest * honest_ulp_);
  allowed.zeros = static_cast<int64_t>(factor * static_cast<double>(eager_errors_.zeros)) + 4 + exact_.numel() / 10000;
  return allowed;
}

record::Errors Truth::no_more_than_eager() const {
  record::Errors most = allowed(false);
  most.norm = 1.25 * eager_errors_.norm;
  most.row = 2 * eager_errors_.row;
  most.ulp = 2 * eager_errors_.ulp;
  return most;
}

at::Tensor Truth::answers(const at::Tensor& found, const at::Tensor& eager) const {
  const at::Tensor values = widened(found);
  return any_for_nan_ ? at::where(values.isnan().logical_and_(eager.isinf()), eager, values) : values;
}

bool Truth::allows(const at::Tensor& found, bool recorded) const {
  PASSNET_CHECK(found.sizes() == eager_.sizes(), "both sides of a comparison have one shape");
  const record::Errors most = allowed(recorded);
  // What is off in a few rows is off; most that is asked about is.
  constexpr int64_t kFewElements = 4096;
  const int64_t few = std::max<int64_t>(1, kFewElements / columns_) * columns_;
  if (few < exact_.numel()) {
    const auto first = [&](const at::Tensor& tensor) { return tensor.contiguous().view(-1).narrow(0, 0, few); };
    const at::Tensor values = answers(first(found), first(eager_));
    const record::Errors of_few = measure(first(exact_), first(eager_), &values, columns_, scales_, type_).errors();
    if (of_few.row > most.row || of_few.zeros > most.zeros || of_few.misplaced > most.misplaced) return false;
  }
  return record::ErrorBudget{"", {}, most, of(found)}.kept();
}

record::Errors Truth::of(const at::Tensor& found) const {
  PASSNET_CHECK(found.sizes() == eager_.sizes(), "both sides of a comparison have one shape");
  const at::Tensor values = answers(found, eager_);
  return measure(exact_, eager_, &values, columns_, scales_, type_).errors();
}

namespace {

bool can_be_compared(double a, double b) { return std::abs(a) + std::abs(a - b) <= std::numeric_limits<double>::max(); }

/// How a row differs from another one.
struct RowDifference {
  double scale = 0, largest = 0;  // the largest value and the largest difference, where both can be compared
  double squares = 0, squares_of_values = 0;
  bool fine = true;  // false: a NaN or an infinity is in another place
};

/// Of any values, one by one.
template <class T>
RowDifference difference_of_any(const T* expected, const T* other, int64_t columns) {
  RowDifference row;
  for (int64_t i = 0; i < columns; ++i) {
    const auto a = static_cast<double>(expected[i]), b = static_cast<double>(other[i]);
    if (!can_be_compared(a, b)) {
      row.fine &= same_kind(a, b);
      continue;
    }
    const double difference = std::abs(a - b);
    row.scale = std::max(row.scale, std::abs(a));
    row.largest = std::max(row.largest, difference);
    row.squares += difference * difference;
    row.squares_of_values += a * a;
  }
  return row;
}

/// The same, several values at a time for as long as all can be compared.
template <class T>
RowDifference difference_of(const T* expected, const T* other, int64_t columns) {
  constexpr int64_t kAtATime = 8;
  std::array<double, kAtATime> scale{}, largest{}, squares{}, squares_of_values{};
  bool comparable = true;
  const int64_t whole = columns - columns % kAtATime;
  for (int64_t i = 0; i < whole; i += kAtATime) {
    for (size_t k = 0; k < kAtATime; ++k) {
      const auto a = static_cast<double>(expected[i + int64_t(k)]), b = static_cast<double>(other[i + int64_t(k)]);
      const double size = std::abs(a), difference = std::abs(a - b);
      comparable &= size + difference <= std::numeric_limits<double>::max();
      scale[k] = scale[k] < size ? size : scale[k];
      largest[k] = largest[k] < difference ? difference : largest[k];
      squares[k] += difference * difference;
      squares_of_values[k] += a * a;
    }
  }
  if (!comparable) return difference_of_any(expected, other, columns);
  RowDifference row = difference_of_any(expected + whole, other + whole, columns - whole);
  for (size_t k = 0; k < kAtATime; ++k) {
    row.scale = std::max(row.scale, scale[k]);
    row.largest = std::max(row.largest, largest[k]);
    row.squares += squares[k];
    row.squares_of_values += squares_of_values[k];
  }
  return row;
}

/// Short types as float32, which holds all their values.
at::Tensor at_least_float(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? tensor : tensor.to(at::kFloat);
}

}  // namespace

bool within(const at::Tensor& expected, const at::Tensor& other, const record::Errors& allowed, record::Errors* found) {
  const at::Tensor a = expected.contiguous(), b = other.contiguous();
  *found = {};
  if (std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0) return true;
  const int64_t columns = row_length(a.sizes()), rows = a.numel() / columns;
  std::vector<RowDifference> differences(static_cast<size_t>(rows));
  const at::Tensor wide = at_least_float(a), other_wide = at_least_float(b);
  AT_DISPATCH_FLOATING_TYPES(wide.scalar_type(), "within", [&] {
    const auto* mine = wide.const_data_ptr<scalar_t>();
    const auto* theirs = other_wide.const_data_ptr<scalar_t>();
    for_each_range(rows, std::max<int64_t>(1, kPartElements / columns), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        differences[static_cast<size_t>(row)] = difference_of(mine + row * columns, theirs + row * columns, columns);
    });
  });
  const Precision type = precision_of(a.scalar_type());
  const RowScales scales =
      scales_of(rows, columns, [&](int64_t row) { return differences[static_cast<size_t>(row)].scale; });
  Sums all;
  for (const RowDifference& row : differences) {
    all.squares += row.squares;
    all.squares_of_values += row.squares_of_values;
    all.row = std::max(all.row, row_error(row.largest, row.scale, scales.least, type));
    if (!row.fine) ++all.misplaced;
  }
  *found = all.errors();
  return found->misplaced == 0 && found->norm <= allowed.norm && found->row <= allowed.row;
}

}  // namespace passnet::runtime
