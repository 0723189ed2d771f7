// A Python value as known when a graph is lowered: a literal, or a slot that a step fills at run time.
// Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace passnet::runtime {

enum class Kind : uint8_t {
  None,
  Tensor,
  Int,
  Float,
  Bool,
  Number,  // int, float or bool: known only at run time (`item()`)
  String,
  DType,
  Device,
  Layout,
  MemoryFormat,
  Ellipsis,
  Slice,  // elements: start, stop, step
  Tuple,
  List,    // elements, or a slot that holds a list
  Opaque,  // something no operator takes (FunctionCtx)
};
const char* to_string(Kind kind);

struct Operand {
  Kind kind = Kind::None;
  Kind element = Kind::Tensor;    // of a list in a slot
  int32_t slot = -1;              // >= 0: filled at run time (or a constant tensor's slot)
  c10::IValue value;              // a literal: int, double, bool, string; dtype, layout, format as int
  std::vector<Operand> elements;  // Slice, Tuple, List without a slot
  const std::vector<c10::Argument>* fields = nullptr;  // names of a Tuple's elements, when an operator gave it

  bool is_constant() const { return slot < 0 && kind != Kind::Tuple && kind != Kind::List && kind != Kind::Slice; }
  bool is_sequence() const { return kind == Kind::Tuple || kind == Kind::List; }
  bool is_number() const {
    return kind == Kind::Int || kind == Kind::Float || kind == Kind::Bool || kind == Kind::Number;
  }

  static Operand none() { return {}; }
  static Operand of_int(int64_t v) { return literal(Kind::Int, v); }
  static Operand of_float(double v) { return literal(Kind::Float, v); }
  static Operand of_bool(bool v) { return literal(Kind::Bool, v); }
  static Operand of_string(std::string v) { return literal(Kind::String, std::move(v)); }
  static Operand of_dtype(at::ScalarType v) { return literal(Kind::DType, static_cast<int64_t>(v)); }
  static Operand in_slot(Kind kind, int32_t slot) {
    Operand operand;
    operand.kind = kind;
    operand.slot = slot;
    return operand;
  }
  static Operand sequence(Kind kind, std::vector<Operand> elements) {
    Operand operand;
    operand.kind = kind;
    operand.elements = std::move(elements);
    return operand;
  }

 private:
  template <class T>
  static Operand literal(Kind kind, T v) {
    Operand operand;
    operand.kind = kind;
    operand.value = c10::IValue(std::move(v));
    return operand;
  }
};

struct NamedOperand {
  std::string_view name;
  Operand value;
};

/// The operand of a literal that is one value; none() for other arguments.
Operand literal_operand(const ir::Arg& arg);

/// What a call looks like to the person who wrote it: "(tensor, int, dim=int)". For messages.
std::string describe_call(const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords);

/// Thrown while lowering, caught where a plan is built; carries the Error without its place in the file.
struct LoweringError {
  Error error;
};
[[noreturn]] void refuse(std::string message, std::string hint = {});

}  // namespace passnet::runtime
