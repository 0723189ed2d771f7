#include "runtime/plan/arg_source.h"

#include <ATen/core/List.h>

#include <optional>

namespace passnet::runtime {

c10::IValue ArgSource::box(const c10::IValue* slots) const {
  switch (form) {
    case Form::Literal: return value;
    case Form::Slot: return slots[slot];
    case Form::Tensors: {
      c10::List<at::Tensor> list;
      list.reserve(elements.size());
      for (const Element& element : elements) list.push_back(slots[element.slot].toTensor());
      return list;
    }
    case Form::OptionalTensors: {
      c10::List<std::optional<at::Tensor>> list;
      list.reserve(elements.size());
      for (const Element& element : elements)
        list.push_back(element.slot < 0 ? std::nullopt : std::optional(slots[element.slot].toTensor()));
      return list;
    }
    case Form::Ints: {
      c10::List<int64_t> list;
      list.reserve(elements.size());
      for (const Element& element : elements)
        list.push_back(element.slot < 0 ? element.value : slots[element.slot].toInt());
      return list;
    }
    case Form::Reals: {
      c10::List<double> list;
      list.reserve(elements.size());
      for (const Element& element : elements)
        list.push_back(element.slot < 0 ? element.real : slots[element.slot].toScalar().toDouble());
      return list;
    }
  }
  return {};
}

}  // namespace passnet::runtime
