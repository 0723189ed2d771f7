#include "author/define/promotion.h"

#include <optional>

namespace passnet::author {

using ir::DType;

namespace {

/// bool, whole, real.
int category(DType dtype) { return ir::is_floating(dtype) ? 2 : ir::is_integral(dtype) ? 1 : 0; }

DType wider(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 2) {
    if (a == DType::Float64 || b == DType::Float64) return DType::Float64;
    return DType::Float32;  // also of the two types of 16 bits
  }
  if (ir::size_bytes(a) != ir::size_bytes(b)) return ir::size_bytes(a) > ir::size_bytes(b) ? a : b;
  return DType::Int16;  // of int8 and uint8
}

}  // namespace

DType promoted(const std::vector<Promotes>& operands) {
  std::optional<DType> made;
  for (const auto kind : {Promotes::Kind::Tensor, Promotes::Kind::ZeroDimensional, Promotes::Kind::Number}) {
    std::optional<DType> own;
    for (const Promotes& one : operands) {
      if (one.kind == kind) own = own ? wider(*own, one.dtype) : one.dtype;
    }
    if (own && (!made || category(*own) > category(*made))) made = own;
  }
  return *made;
}

bool keeps_values(DType from, DType to) {
  if (from == to || from == DType::Bool) return true;
  const bool is_byte = ir::is_integral(from) && ir::size_bytes(from) == 1;
  if (ir::is_floating(to)) return ir::size_bytes(to) > 2 || is_byte;
  if (!ir::is_integral(from)) return to == DType::Bool;
  return to == DType::Int64 || to == DType::Bool || (to != DType::Int8 && to != DType::UInt8 && wider(from, to) == to);
}

}  // namespace passnet::author
