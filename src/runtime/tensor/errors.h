// What values lose against a float64 reference, and what they may lose. Internal to runtime/ (includes torch).
// Source: docs/scoring.md, "Error budgets".
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "record/record.h"

namespace passnet::runtime {

/// How many times what eager loses an answer may lose: on values as recorded, and on other input kinds, where algorithms
/// that are equally good may differ by more.
inline constexpr double kFactor = 4, kOtherKindFactor = 16;

/// The largest value of each row that can be compared, what a row is measured by at least, and the share of a row's largest
/// value below which 0 is right.
struct RowScales {
  std::vector<double> of_rows;
  double least = 0, zero = 0;
};

/// The true values of an output, and eager's. REQUIRES: the same shape; eager has a floating type of at most 64 bits.
class Truth {
 public:
  /// any_for_nan: where eager has NaN any answer is right, and NaN is where eager has an infinity.
  Truth(const at::Tensor& exact, const at::Tensor& eager, bool any_for_nan = false);

  /// What eager loses.
  const record::Errors& eager() const { return eager_errors_; }
  /// What another may lose: kFactor or kOtherKindFactor times that, and never less than as many times what an honest answer
  /// of the output's type may be off. recorded: on the values as recorded.
  record::Errors allowed(bool recorded) const;
  /// What another may lose that is as good as eager: in all a quarter more, in single rows and in the tail twice as much, as
  /// roundings that decide fall otherwise in others.
  record::Errors no_more_than_eager() const;
  /// REQUIRES: the shape and the type of eager.
  record::Errors of(const at::Tensor& found) const;
  /// Whether that is within allowed(recorded). REQUIRES: as of().
  bool allows(const at::Tensor& found, bool recorded) const;

 private:
  at::Tensor exact_, eager_;  // float64, contiguous, on the CPU
  at::Tensor answers(const at::Tensor& found, const at::Tensor& eager) const;

  bool any_for_nan_;
  at::ScalarType type_;
  int64_t columns_ = 1;  // elements of a row
  RowScales scales_;
  record::Errors eager_errors_;
  double honest_ulp_ = 0;  // of an answer that is off everywhere by what is honest in the largest element of the row
};

/// Whether two answers of one type and shape differ by no more than `allowed` (norm and row alone), with NaN and
/// infinities in the same places. found: how far they are apart.
bool within(const at::Tensor& expected, const at::Tensor& other, const record::Errors& allowed, record::Errors* found);

}  // namespace passnet::runtime
