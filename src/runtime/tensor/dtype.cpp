#include "runtime/tensor/dtype.h"

#include <algorithm>
#include <array>

namespace passnet::runtime {

namespace {
struct Pair {
  ir::DType dtype;
  at::ScalarType type;
};
constexpr std::array<Pair, 12> kPairs{{{ir::DType::Float32, at::kFloat},
                                       {ir::DType::Float64, at::kDouble},
                                       {ir::DType::Float16, at::kHalf},
                                       {ir::DType::BFloat16, at::kBFloat16},
                                       {ir::DType::Int8, at::kChar},
                                       {ir::DType::Int16, at::kShort},
                                       {ir::DType::Int32, at::kInt},
                                       {ir::DType::Int64, at::kLong},
                                       {ir::DType::UInt8, at::kByte},
                                       {ir::DType::Bool, at::kBool},
                                       {ir::DType::Complex64, at::kComplexFloat},
                                       {ir::DType::Complex128, at::kComplexDouble}}};
}  // namespace

at::ScalarType scalar_type(ir::DType dtype) { return kPairs[static_cast<size_t>(dtype)].type; }

bool has_dtype(at::ScalarType type) {
  return std::any_of(kPairs.begin(), kPairs.end(), [&](const Pair& row) { return row.type == type; });
}

ir::DType dtype_of(at::ScalarType type) {
  for (const Pair& row : kPairs) {
    if (row.type == type) return row.dtype;
  }
  TORCH_CHECK(false, "element type ", type, " is not supported");
}

ir::TensorType type_of(const at::Tensor& tensor) {
  return {dtype_of(tensor.scalar_type()), tensor.sizes().vec(), tensor.strides().vec()};
}

int64_t extent_bytes(const ir::TensorType& type) {
  int64_t last = 0;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] == 0) return 0;
    last += (type.shape[i] - 1) * type.strides[i];
  }
  return (last + 1) * ir::size_bytes(type.dtype);
}

}  // namespace passnet::runtime
