#include "runtime/plan/operand.h"

#include <fmt/format.h>

#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::None: return "None";
    case Kind::Tensor: return "tensor";
    case Kind::Int: return "int";
    case Kind::Float: return "float";
    case Kind::Bool: return "bool";
    case Kind::Number: return "number";
    case Kind::String: return "str";
    case Kind::DType: return "dtype";
    case Kind::Device: return "device";
    case Kind::Layout: return "layout";
    case Kind::MemoryFormat: return "memory_format";
    case Kind::Ellipsis: return "Ellipsis";
    case Kind::Slice: return "slice";
    case Kind::Tuple: return "tuple";
    case Kind::List: return "list";
    case Kind::Opaque: return "object";
  }
  return "?";
}

Operand literal_operand(const ir::Arg& arg) {
  switch (arg.kind) {
    case ir::ArgKind::Bool: return Operand::of_bool(arg.boolean);
    case ir::ArgKind::Int: return Operand::of_int(arg.integer);
    case ir::ArgKind::Float: return Operand::of_float(arg.real);
    case ir::ArgKind::String: return Operand::of_string(std::string(arg.string()));
    case ir::ArgKind::DType: return Operand::of_dtype(scalar_type(arg.dtype));
    default: return Operand::none();
  }
}

namespace {
std::string describe(const Operand& operand) {
  if (!operand.is_sequence()) return to_string(operand.kind);
  if (operand.slot >= 0) return fmt::format("{} of {}", to_string(operand.kind), to_string(operand.element));
  std::string text;
  for (const Operand& element : operand.elements) text += (text.empty() ? "" : ", ") + describe(element);
  return operand.kind == Kind::Tuple ? "(" + text + ")" : "[" + text + "]";
}
}  // namespace

std::string describe_call(const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords) {
  std::string text;
  for (const Operand& arg : args) text += (text.empty() ? "" : ", ") + describe(arg);
  for (const NamedOperand& keyword : keywords)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", keyword.name, describe(keyword.value));
  return "(" + text + ")";
}

void refuse(std::string message, std::string hint) {
  throw LoweringError{bad_input(std::move(message)).with_hint(std::move(hint))};
}

}  // namespace passnet::runtime
