#include "ir/dtype.h"

#include <array>

namespace passnet::ir {

namespace {
struct Row {
  DType dtype;
  std::string_view name;
  std::string_view alias;
  int64_t size_bytes;
};
constexpr std::array<Row, 12> kRows{{
    {DType::Float32, "float32", "float", 4},
    {DType::Float64, "float64", "double", 8},
    {DType::Float16, "float16", "half", 2},
    {DType::BFloat16, "bfloat16", "", 2},
    {DType::Int8, "int8", "", 1},
    {DType::Int16, "int16", "short", 2},
    {DType::Int32, "int32", "int", 4},
    {DType::Int64, "int64", "long", 8},
    {DType::UInt8, "uint8", "", 1},
    {DType::Bool, "bool", "", 1},
    {DType::Complex64, "complex64", "cfloat", 8},
    {DType::Complex128, "complex128", "cdouble", 16},
}};
}  // namespace

std::string_view name(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

std::optional<DType> parse_dtype(std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(6);
  for (const Row& row : kRows) {
    if (text == row.name || (!row.alias.empty() && text == row.alias)) return row.dtype;
  }
  return std::nullopt;
}

int64_t size_bytes(DType dtype) { return kRows[static_cast<size_t>(dtype)].size_bytes; }

bool is_floating(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

bool is_integral(DType dtype) {
  return dtype == DType::Int8 || dtype == DType::Int16 || dtype == DType::Int32 || dtype == DType::Int64 ||
         dtype == DType::UInt8;
}

}  // namespace passnet::ir
