#include "runtime/tensor/value.h"

#include <ATen/core/Tensor.h>

#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {

Json meta_json(const at::Tensor& tensor) {
  return {{"dtype", std::string(ir::name(dtype_of(tensor.scalar_type())))},
          {"shape", tensor.sizes().vec()},
          {"strides", tensor.strides().vec()}};
}

}  // namespace

Json value_json(const c10::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    // What passes between operators may be of a kind that has no VALUE.
    const bool known = tensor.defined() && tensor.layout() == at::kStrided && has_dtype(tensor.scalar_type());
    return known ? meta_json(tensor) : Json{{"none", true}};
  }
  if (value.isInt()) return {{"int", value.toInt()}};
  if (value.isDouble()) return {{"float", value.toDouble()}};
  if (value.isBool()) return {{"bool", value.toBool()}};
  Json list = Json::array();
  if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) list.push_back(value_json(element));
  } else if (value.isTensorList()) {
    for (const at::Tensor& element : value.toTensorVector()) list.push_back(value_json(element));
  } else if (value.isIntList()) {
    for (const int64_t element : value.toIntVector()) list.push_back({{"int", element}});
  } else {
    return {{"none", true}};
  }
  return {{"list", list}};
}

}  // namespace passnet::runtime
