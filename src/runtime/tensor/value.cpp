#include "runtime/tensor/value.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

constexpr size_t kMostElements = 4096;

size_t element_count(const c10::IValue& value) {
  if (value.isList()) return value.toListRef().size();
  return value.isTuple() ? value.toTupleRef().elements().size() : 0;
}

}  // namespace

ir::Value value_of(const c10::IValue& value) {
  if (const size_t count = element_count(value); count > kMostElements)
    return {ir::Value::Unknown{fmt::format("{} elements, expected at most {}", count, kMostElements)}, {}};
  ir::Value::List list;
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    const bool known = tensor.defined() && tensor.layout() == at::kStrided && has_dtype(tensor.scalar_type());
    return known ? ir::Value{type_of(tensor), {}} : ir::Value{};
  }
  if (value.isInt()) return {value.toInt(), {}};
  if (value.isDouble()) return {value.toDouble(), {}};
  if (value.isBool()) return {value.toBool(), {}};
  if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) list.push_back(value_of(element));
  } else if (value.isTensorList()) {
    for (const at::Tensor& element : value.toTensorVector()) list.push_back(value_of(element));
  } else if (value.isIntList()) {
    for (const int64_t element : value.toIntVector()) list.push_back({element, {}});
  } else {
    return {};
  }
  return {std::move(list), {}};
}

}  // namespace passnet::runtime
