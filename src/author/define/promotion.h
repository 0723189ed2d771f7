// Types that PyTorch computes in: promotion of operands, and which conversions between types keep every value.
#pragma once

#include <vector>

#include "ir/dtype.h"

namespace passnet::author {

/// An operand as promotion looks at it. Where kinds differ, the first of these kinds decides, unless a later one is of a
/// higher category (bool, whole, real).
struct Promotes {
  enum class Kind : uint8_t { Tensor, ZeroDimensional, Number };
  ir::DType dtype = ir::DType::Float32;
  Kind kind = Kind::Tensor;
};

/// torch.result_type of real operands. REQUIRES: there is one.
ir::DType promoted(const std::vector<Promotes>& operands);

/// Tells whether each value of `from` is also one of `to`, or becomes one when it is converted to the type that kernels compute in.
bool keeps_values(ir::DType from, ir::DType to);

}  // namespace passnet::author
