// ir::DType <-> at::ScalarType, ir::TensorType of a tensor. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include "ir/tensor_type.h"

namespace passnet::runtime {

at::ScalarType scalar_type(ir::DType dtype);
/// False for an element type that graphs do not have (quantised, float8, unsigned beyond 8 bits).
bool has_dtype(at::ScalarType type);
/// Throws c10::Error for an element type that graphs do not have.
ir::DType dtype_of(at::ScalarType type);
ir::TensorType type_of(const at::Tensor& tensor);
/// Bytes from the first element to the end of the last one.
int64_t extent_bytes(const ir::TensorType& type);

}  // namespace passnet::runtime
