// Methods, attributes and factory functions that are not plain ATen calls: conversions, sizes, constants.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include "runtime/lower/channels_last.h"
#include "runtime/lower/lower.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {
const CallForm kToDType{.method = true, .overload = "dtype"};
}

Operand to_dtype(Builder& builder, const Operand& tensor, const Operand& dtype) {
  return builder.call("to", {tensor, dtype}, {}, kToDType);
}

namespace {

c10::IValue host_sizes(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().sizes().vec(); }
c10::IValue host_size(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().size(inputs[1].toInt()); }
c10::IValue host_strides(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().strides().vec(); }
c10::IValue host_dim(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().dim(); }
c10::IValue host_numel(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().numel(); }
c10::IValue host_element_size(std::vector<c10::IValue>& inputs) {
  return static_cast<int64_t>(inputs[0].toTensor().element_size());
}
c10::IValue host_nbytes(std::vector<c10::IValue>& inputs) {
  return static_cast<int64_t>(inputs[0].toTensor().nbytes());
}
c10::IValue host_product(std::vector<c10::IValue>& inputs) {
  int64_t product = 1;
  for (const int64_t size : inputs[0].toIntVector())
    TORCH_CHECK(!__builtin_mul_overflow(product, size, &product), "the product of sizes is beyond 64 bits");
  return product;
}
c10::IValue host_dtype(std::vector<c10::IValue>& inputs) {
  return static_cast<int64_t>(inputs[0].toTensor().scalar_type());
}
c10::IValue host_is_contiguous(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().is_contiguous(); }
c10::IValue host_is_floating(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().is_floating_point(); }

/// Tensor.to in all its forms; the device is always the one the graph runs on.
Operand to(Builder& builder, const Bound& args) {
  Operand dtype = args["dtype"], other = args["other"], copy = args["copy"];
  Operand non_blocking = Operand::of_bool(false);
  std::vector<Operand> flags;  // by place: non_blocking, copy
  for (const Operand& arg : args["args"].elements) {
    if (arg.kind == Kind::DType && !args.given("dtype")) dtype = arg;
    if (arg.kind == Kind::Tensor && !args.given("other")) other = arg;
    if (arg.kind == Kind::Bool) flags.push_back(arg);
  }
  if (!flags.empty()) non_blocking = flags[0];
  if (flags.size() > 1 && !args.given("copy")) copy = flags[1];
  if (copy.kind == Kind::None) copy = Operand::of_bool(false);
  const Operand &self = args["input"], &memory_format = args["memory_format"];
  if (other.kind == Kind::Tensor)
    return builder.call("to", {self, other, non_blocking, copy, memory_format}, {},
                        {.method = true, .overload = "other"});
  if (dtype.kind == Kind::DType)
    return builder.call("to", {self, dtype, non_blocking, copy, memory_format}, {}, kToDType);
  if (memory_format.kind == Kind::None && copy.value.isBool() && !copy.value.toBool()) return self;
  return builder.call("to", {self}, {{"copy", copy}, {"memory_format", memory_format}},
                      {.method = true, .overload = "dtype_layout"});
}

Operand type_method(Builder& builder, const Bound& args) {
  const Operand& dtype = args["dtype"];
  if (dtype.kind == Kind::DType) return to_dtype(builder, args["input"], dtype);
  static const std::map<std::string, at::ScalarType> kTypes{
      {"FloatTensor", at::kFloat},   {"HalfTensor", at::kHalf}, {"BFloat16Tensor", at::kBFloat16},
      {"DoubleTensor", at::kDouble}, {"LongTensor", at::kLong}, {"IntTensor", at::kInt},
      {"BoolTensor", at::kBool},     {"ByteTensor", at::kByte}};
  const std::string text = args.text("dtype");
  const auto found = kTypes.find(text.substr(text.rfind('.') + 1));
  if (found == kTypes.end()) refuse(fmt::format("Tensor.type(): unknown type '{}'", text));
  return to_dtype(builder, args["input"], Operand::of_dtype(found->second));
}

/// x.float() and its like; also x.float(memory_format=…).
Operand cast(Builder& builder, const Bound& args) {
  if (!args.given("memory_format")) return to_dtype(builder, args["input"], args["dtype"]);
  return builder.call("to", {args["input"], args["dtype"]}, {{"memory_format", args["memory_format"]}}, kToDType);
}

c10::IValue host_in_channels_last(std::vector<c10::IValue>& inputs) { return in_channels_last(inputs[0].toTensor()); }

Operand contiguous(Builder& builder, const Bound& args) {
  const Operand& format = args["memory_format"];
  if (format.kind == Kind::MemoryFormat && format.value.toInt() == static_cast<int64_t>(at::MemoryFormat::ChannelsLast))
    return builder.host(host_in_channels_last, Kind::Tensor, {args["input"]});
  return builder.call("contiguous", {args["input"]}, {{"memory_format", format}});
}

Operand identity(Builder&, const Bound& args) { return args["input"]; }

Operand size_method(Builder& builder, const Bound& args) {
  if (!args.given("dim")) return shape_of(builder, args["input"]);
  return builder.host(host_size, Kind::Int, {args["input"], args["dim"]});
}

c10::IValue seed(std::vector<c10::IValue>& inputs) {
  seed_generators(static_cast<uint64_t>(inputs[0].toScalar().toLong()));
  return {};
}

/// float(x), int(x), bool(x) as methods.
template <class Number>
c10::IValue number_of(std::vector<c10::IValue>& inputs) {
  return inputs[0].toTensor().item().to<Number>();
}

/// What Python calls when the left operand does not know the operator.
template <const char* Op>
Operand reversed(Builder& builder, const Bound& args) {
  return lower_operator(builder, Op, {args["other"], args["input"]});
}
constexpr char kFloorDivide[] = "//", kRemainder[] = "%", kPower[] = "**", kProduct[] = "@", kShiftLeft[] = "<<",
               kShiftRight[] = ">>";

Operand nothing(Builder&, const Bound&) { return Operand::none(); }
Operand opaque(Builder&, const Bound&) { return Operand::in_slot(Kind::Opaque, -1); }

Operand size_constructor(Builder&, const Bound& args) { return args["sizes"]; }

const Rule kMethods[] = {
    {"Tensor.to", to},
    {"Tensor.type", type_method},
    {"Tensor.float Tensor.double Tensor.half Tensor.bfloat16 Tensor.long Tensor.int Tensor.short Tensor.char "
     "Tensor.byte Tensor.bool",
     cast},
    {"Tensor.cfloat", cast},
    {"Tensor.cdouble", cast},
    {"Tensor.contiguous", contiguous},
    {"Tensor.cpu", identity},
    {"Tensor.cuda", identity},
    {"Tensor.requires_grad_", identity},
    {"Tensor.size", size_method},
    {"Tensor.stride", host_call<host_strides, Kind::List>},
    {"Tensor.dim Tensor.ndimension", host_call<host_dim, Kind::Int>},
    {"Tensor.numel torch.numel", host_call<host_numel, Kind::Int>},
    {"Tensor.nelement", host_call<host_numel, Kind::Int>},
    {"Tensor.is_contiguous", host_call<host_is_contiguous, Kind::Bool>},
    {"Tensor.is_floating_point", host_call<host_is_floating, Kind::Bool>},
    {"Tensor.element_size", host_call<host_element_size, Kind::Int>},
    {"Tensor.get_device", [](Builder&, const Bound&) { return Operand::of_int(graph_device().index()); }},
    {"Tensor.__len__", [](Builder& b, const Bound& a) { return size_of(b, a["input"], 0); }},
    {"Tensor.__bool__", host_call<number_of<bool>, Kind::Bool>},
    {"Tensor.__int__ Tensor.__index__", host_call<number_of<int64_t>, Kind::Int>},
    {"Tensor.__float__", host_call<number_of<double>, Kind::Float>},
    {"Tensor.__getitem__", [](Builder& b, const Bound& a) { return lower_getitem(b, a["input"], a["index"]); }},
    {"Tensor.__setitem__",
     [](Builder& b, const Bound& a) { return lower_setitem(b, a["input"], a["index"], a["value"]); }},
    {"Tensor.__rdiv__", "mul(reciprocal(input), other)"},
    {"Tensor.__rfloordiv__", reversed<kFloorDivide>},
    {"Tensor.__rmod__", reversed<kRemainder>},
    {"Tensor.__rpow__", reversed<kPower>},
    {"Tensor.__rmatmul__", reversed<kProduct>},
    {"Tensor.__rlshift__", reversed<kShiftLeft>},
    {"Tensor.__rrshift__", reversed<kShiftRight>},
    {"Tensor.split", "split(tensor, split_size_or_sections, dim)"},
    {"torch.functional.split", "split(tensor, split_size_or_sections, dim)"},
};

const Rule kFactories[] = {
    {"torch.Size", size_constructor},
    {"torch.manual_seed", host_call<seed, Kind::Opaque>},
    {"torch.ops.prims.convert_element_type.default",
     [](Builder& b, const Bound& a) { return to_dtype(b, a["input"], a["dtype"]); }},
    // Calls that only matter to tracing, gradients or logging.
    {"torch._C._log_api_usage_once", nothing},
    {"torch._C._set_grad_enabled torch.set_grad_enabled", nothing},
    {"torch.autograd.function.FunctionCtx", opaque},
};

}  // namespace

std::span<const Rule> method_rules() { return kMethods; }
std::span<const Rule> factory_rules() { return kFactories; }

Operand shape_of(Builder& builder, const Operand& tensor) {
  Operand shape = builder.host(host_sizes, Kind::List, {tensor});
  shape.element = Kind::Int;
  return shape;
}

Operand size_of(Builder& builder, const Operand& tensor, int64_t dim) {
  return builder.host(host_size, Kind::Int, {tensor, Operand::of_int(dim)});
}

Operand product_of(Builder& builder, const Operand& list) { return builder.host(host_product, Kind::Int, {list}); }

namespace {

/// x.max(0).values: an element of an operator's results, by name.
Operand field(std::string_view name, const Operand& results) {
  std::string known;
  for (size_t i = 0; results.fields != nullptr && i < results.fields->size(); ++i) {
    if ((*results.fields)[i].name() == name) return results.elements[i];
    known += (known.empty() ? "" : ", ") + (*results.fields)[i].name();
  }
  refuse(fmt::format("unknown attribute '{}' of a {}", name, to_string(results.kind)),
         known.empty() ? "" : "known: " + known);
}

template <HostFunction Function, Kind Result>
Operand read_attribute(Builder& builder, const Operand& tensor) {
  return builder.host(Function, Result, {tensor});
}

Operand of_kind(Kind kind, Operand operand) {
  operand.kind = kind;
  return operand;
}

struct AttributeRow {
  std::string_view name;
  Operand (*lower)(Builder& builder, const Operand& tensor);
};
constexpr AttributeRow kAttributes[] = {
    {"T", [](Builder& b, const Operand& x) { return b.call("numpy_T", {x}); }},
    {"mT", [](Builder& b, const Operand& x) { return b.call("mT", {x}); }},
    {"H", [](Builder& b, const Operand& x) { return b.call("matrix_H", {x}); }},
    {"mH", [](Builder& b, const Operand& x) { return b.call("mH", {x}); }},
    {"real", [](Builder& b, const Operand& x) { return b.call("real", {x}); }},
    {"imag", [](Builder& b, const Operand& x) { return b.call("imag", {x}); }},
    {"shape", shape_of},
    {"ndim", read_attribute<host_dim, Kind::Int>},
    {"dtype", read_attribute<host_dtype, Kind::DType>},
    {"device", [](Builder&, const Operand&) { return of_kind(Kind::Device, Operand::none()); }},
    {"layout",
     [](Builder&, const Operand&) {
       return of_kind(Kind::Layout, Operand::of_int(static_cast<int64_t>(at::Layout::Strided)));
     }},
    {"data", [](Builder&, const Operand& x) { return x; }},
    {"itemsize", read_attribute<host_element_size, Kind::Int>},
    {"nbytes", read_attribute<host_nbytes, Kind::Int>},
};

/// The same of every tensor that a graph has.
struct FixedAttribute {
  std::string_view name;
  Operand (*value)();
};
Operand no() { return Operand::of_bool(false); }
constexpr FixedAttribute kFixedAttributes[] = {
    {"is_cpu", [] { return Operand::of_bool(graph_device().is_cpu()); }},
    {"is_cuda", [] { return Operand::of_bool(graph_device().is_cuda()); }},
    {"is_leaf", [] { return Operand::of_bool(true); }},
    {"grad", Operand::none},
    {"requires_grad", no},
    {"is_sparse", no},
    {"is_quantized", no},
    {"is_meta", no},
    {"is_mkldnn", no},
    {"is_nested", no},
    {"is_mps", no},
    {"is_xpu", no},
};

}  // namespace

Operand lower_attribute(Builder& builder, std::string_view name, const Operand& object) {
  if (object.is_sequence()) return field(name, object);
  if (object.kind != Kind::Tensor)
    refuse(fmt::format("attribute '{}' of {}, expected a tensor", name, to_string(object.kind)));
  std::string known;
  for (const AttributeRow& row : kAttributes) {
    if (row.name == name) return row.lower(builder, object);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  for (const FixedAttribute& row : kFixedAttributes) {
    if (row.name == name) return row.value();
  }
  refuse(fmt::format("unknown attribute '{}' of a tensor", name), "known: " + known);
}

}  // namespace passnet::runtime
