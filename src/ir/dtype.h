// Element types, named as PyTorch names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace passnet::ir {

enum class DType : uint8_t {
  Float32,
  Float64,
  Float16,
  BFloat16,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  Bool,
  Complex64,
  Complex128,
};

/// "float32", "bfloat16", "int64", "bool", …
std::string_view name(DType dtype);
/// From "float32" or "torch.float32", also the aliases "float", "double", "half", "long", "int", "short".
std::optional<DType> parse_dtype(std::string_view text);
/// Bytes of one element.
int64_t size_bytes(DType dtype);
bool is_floating(DType dtype);
/// Signed and unsigned integers, not bool.
bool is_integral(DType dtype);

}  // namespace passnet::ir
