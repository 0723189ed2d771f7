// Numbers that a graph computes: torch.sym_*, the functions of `math`, sizes by torch.ops.aten.sym_*, and the
// assertions about them. A tensor of one element stands for its number, as Python takes it.
#include <ATen/core/Tensor.h>
#include <ATen/ops/all.h>
#include <fmt/format.h>

#include <cmath>

#include "base/json/python_number.h"
#include "runtime/lower/lower.h"

namespace passnet::runtime {

namespace {

at::Scalar number(const c10::IValue& value) { return value.isTensor() ? value.toTensor().item() : value.toScalar(); }
c10::IValue boxed(const at::Scalar& value) {
  if (value.isFloatingPoint()) return value.toDouble();
  if (value.isBoolean()) return value.toBool();
  return value.toLong();
}

/// builder.host for numbers whose kind is known only from their value: a folded one gets it.
Operand number_of(Builder& builder, HostFunction fn, const std::vector<Operand>& args) {
  Operand result = builder.host(fn, Kind::Number, args);
  if (result.slot < 0)
    result.kind = result.value.isDouble() ? Kind::Float : result.value.isBool() ? Kind::Bool : Kind::Int;
  return result;
}

template <double (*Function)(double)>
c10::IValue real_function(std::vector<c10::IValue>& inputs) {
  return Function(number(inputs[0]).toDouble());
}
template <double (*Function)(double)>
c10::IValue rounding(std::vector<c10::IValue>& inputs) {
  const at::Scalar value = number(inputs[0]);
  if (!value.isFloatingPoint()) return value.toLong();
  const python::Integer rounded = python::to_integer(Function(value.toDouble()));
  if (!rounded) refuse(fmt::format("{} is no integer of 64 bits", value.toDouble()));
  return *rounded;
}
template <double (*Function)(double, double)>
c10::IValue real_function_of_two(std::vector<c10::IValue>& inputs) {
  return Function(number(inputs[0]).toDouble(), number(inputs[1]).toDouble());
}

/// The larger (sign 1) or smaller (-1) one; a float when one of them is.
template <int Sign>
c10::IValue extremum(std::vector<c10::IValue>& inputs) {
  const at::Scalar a = number(inputs[0]), b = number(inputs[1]);
  const auto better = [](auto x, auto y) { return Sign > 0 ? std::max(x, y) : std::min(x, y); };
  if (a.isFloatingPoint() || b.isFloatingPoint()) return better(a.toDouble(), b.toDouble());
  return better(a.toLong(), b.toLong());
}

c10::IValue to_int(std::vector<c10::IValue>& inputs) { return number(inputs[0]).toLong(); }
c10::IValue to_float(std::vector<c10::IValue>& inputs) { return number(inputs[0]).toDouble(); }
c10::IValue negation(std::vector<c10::IValue>& inputs) { return !number(inputs[0]).toBool(); }
c10::IValue choice(std::vector<c10::IValue>& inputs) {
  return boxed(number(number(inputs[0]).toBool() ? inputs[1] : inputs[2]));
}
c10::IValue greatest_common_divisor(std::vector<c10::IValue>& inputs) {
  const int64_t a = number(inputs[0]).toLong(), b = number(inputs[1]).toLong();
  const python::Integer divisor = python::greatest_common_divisor(a, b);
  if (!divisor) refuse(fmt::format("integer overflow: gcd({}, {}) does not fit into 64 bits", a, b));
  return *divisor;
}
c10::IValue storage_offset(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().storage_offset(); }
c10::IValue stride_at(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().stride(inputs[1].toInt()); }

c10::IValue assertion(std::vector<c10::IValue>& inputs) {
  if (!number(inputs[0]).toBool())
    refuse(inputs[1].isString() ? inputs[1].toStringRef() : "a condition that the graph asserts does not hold");
  return {};
}
c10::IValue assertion_of_all(std::vector<c10::IValue>& inputs) {
  inputs[0] = at::all(inputs[0].toTensor());
  return assertion(inputs);
}
c10::IValue size_assertion(std::vector<c10::IValue>& inputs) {
  const int64_t size = number(inputs[0]).toLong();
  if (size < 0) refuse(fmt::format("a size that the graph checks is {}, expected 0 or more", size));
  return {};
}

Operand assert_that(Builder& builder, const Bound& args) {
  const Operand& message = args["message"];
  return builder.host(assertion, Kind::Opaque,
                      {args["condition"], message.kind == Kind::String ? message : Operand::none()});
}

Operand sum(Builder& builder, const Bound& args) {
  Operand total = Operand::of_int(0);
  for (const Operand& element : args["args"].elements) total = lower_operator(builder, "+", {total, element});
  return total;
}

Operand size_of_dim(Builder& builder, const Bound& args) {
  return lower_call(builder, ir::NodeKind::CallMethod, "size", {args["input"], args["dim"]}, {});
}
Operand all_sizes(Builder& builder, const Bound& args) { return shape_of(builder, args["input"]); }
Operand numel(Builder& builder, const Bound& args) {
  return lower_call(builder, ir::NodeKind::CallMethod, "numel", {args["input"]}, {});
}

template <HostFunction Function>
Operand number_call(Builder& builder, const Bound& args) {
  return number_of(builder, Function, args.values());
}

const Rule kSymbolicRules[] = {
    {"torch.sym_int torch.sym_fresh_size", host_call<to_int, Kind::Int>},
    {"torch.sym_float", host_call<to_float, Kind::Float>},
    {"torch.sym_not", host_call<negation, Kind::Bool>},
    {"torch.sym_sqrt torch._sym_sqrt math.sqrt", host_call<real_function<std::sqrt>, Kind::Float>},
    {"torch.sym_max", number_call<extremum<1>>},
    {"torch.sym_min", number_call<extremum<-1>>},
    {"torch.sym_sum", sum},
    {"torch.sym_ite", number_call<choice>},
    {"math.exp", host_call<real_function<std::exp>, Kind::Float>},
    {"math.log", host_call<real_function<std::log>, Kind::Float>},
    {"math.log2", host_call<real_function<std::log2>, Kind::Float>},
    {"math.log10", host_call<real_function<std::log10>, Kind::Float>},
    {"math.sin", host_call<real_function<std::sin>, Kind::Float>},
    {"math.cos", host_call<real_function<std::cos>, Kind::Float>},
    {"math.tan", host_call<real_function<std::tan>, Kind::Float>},
    {"math.tanh", host_call<real_function<std::tanh>, Kind::Float>},
    {"math.atan", host_call<real_function<std::atan>, Kind::Float>},
    {"math.fabs", host_call<real_function<std::fabs>, Kind::Float>},
    {"math.floor", host_call<rounding<std::floor>, Kind::Int>},
    {"math.ceil", host_call<rounding<std::ceil>, Kind::Int>},
    {"math.trunc", host_call<rounding<std::trunc>, Kind::Int>},
    {"math.pow", number_call<real_function_of_two<std::pow>>},
    {"math.fmod", number_call<real_function_of_two<std::fmod>>},
    {"math.atan2", number_call<real_function_of_two<std::atan2>>},
    {"math.gcd", number_call<greatest_common_divisor>},
    {"torch.ops.aten.sym_size torch.ops.aten.sym_size.default", all_sizes},
    {"torch.ops.aten.sym_size.int", size_of_dim},
    {"torch.ops.aten.sym_numel torch.ops.aten.sym_numel.default", numel},
    {"torch.ops.aten.sym_stride.int", host_call<stride_at, Kind::Int>},
    {"torch.ops.aten.sym_storage_offset.default Tensor.storage_offset", host_call<storage_offset, Kind::Int>},
    // assertions
    {"torch.ops.aten._assert_scalar.default torch._assert_scalar torch._assert", assert_that},
    {"torch._check torch._check_value torch._check_index torch._check_type torch._check_not_implemented", assert_that},
    {"torch._check_tensor_all",
     [](Builder& b, const Bound& a) {
       return b.host(assertion_of_all, Kind::Opaque, {a["condition"], Operand::none()});
     }},
    {"torch._check_is_size", host_call<size_assertion, Kind::Opaque>},
};

}  // namespace

std::span<const Rule> symbolic_rules() { return kSymbolicRules; }

}  // namespace passnet::runtime
