// Where an argument of a step comes from. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <vector>

namespace passnet::runtime {

struct ArgSource {
  enum class Form : uint8_t {
    Literal,          // value
    Slot,             // slots[slot]
    Tensors,          // a list made of slots
    OptionalTensors,  // a list made of slots; -1 is None
    Ints,             // a list made of literals and slots
    Reals,            // the same of floats
  };
  struct Element {
    int32_t slot = -1;
    int64_t value = 0;  // Ints
    double real = 0;    // Reals
  };
  Form form = Form::Literal;
  int32_t slot = -1;
  c10::IValue value;
  std::vector<Element> elements;

  /// Calls `visit(slot)` for each slot it reads.
  template <class Visit>
  void for_each_slot(Visit&& visit) const {
    if (form == Form::Slot) visit(slot);
    for (const Element& element : elements) {
      if (element.slot >= 0) visit(element.slot);
    }
  }
  /// The argument as a boxed value, for calls through the generic interface.
  c10::IValue box(const c10::IValue* slots) const;
};

}  // namespace passnet::runtime
