// PyTorch's operator registry as Python sees it: overloads by name, and the choice of the overload that fits
// a call. Nothing here runs an operator. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/operand.h"

namespace passnet::runtime {

enum class Type : uint8_t {
  Tensor,
  Scalar,
  Int,
  Float,
  Bool,
  String,
  DType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Other,
};

/// One parameter of an overload.
struct Parameter {
  std::string name;
  Type type = Type::Other;
  bool optional = false;           // T?
  bool list = false;               // T[] or T[]?
  bool optional_elements = false;  // T?[]
  int32_t size = 0;                // N of T[N]: a single value fills N elements; 0: none
  bool keyword_only = false;
  bool writes = false;  // (a!)
  std::optional<c10::IValue> default_value;
};

struct Overload {
  c10::OperatorHandle handle;
  std::vector<Parameter> parameters;
  std::string signature;  // C++ types, "Tensor,SymInt[]->Tensor": selects the direct call
  size_t self = 0;        // index of the parameter a method's receiver fills
  size_t positional = 0;  // parameters that may be given by position
};

/// An overload with an operand for each parameter; nullptr: take the default.
struct Binding {
  const Overload* overload = nullptr;
  std::vector<const Operand*> operands;
  std::vector<Operand> varargs;  // owns the list made of `view(1, -1)`
  size_t varargs_index = 0;
  int cost = 0;  // 0: every operand has its parameter's own type
};

/// Overloads of "aten::NAME" that Python code can call (no out= forms, no named dimensions); empty when
/// unknown.
std::span<const Overload> overloads(std::string_view name);
/// Names of all operators in aten, without namespace, sorted.
std::span<const std::string> operator_names();

/// What is said of a call beside its arguments.
struct CallForm {
  bool method = false;                       // args[0] is the receiver
  std::optional<std::string> overload = {};  // nullopt: the one that fits best; "" is one without a name
};

/// Chooses as PyTorch's Python argument parser does: exact types before conversions, numbers for tensors
/// where nothing else fits. REQUIRES: args and keywords outlive the binding. Throws LoweringError naming the call and
/// the overloads there are.
Binding choose_overload(std::string_view name, const std::vector<Operand>& args,
                        const std::vector<NamedOperand>& keywords, const CallForm& form);

/// True when a bound call of `name` with these operands exists.
bool fits(std::string_view name, const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords,
          bool method);

}  // namespace passnet::runtime
