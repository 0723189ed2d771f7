// Methods, attributes and factory functions that are not plain ATen calls: conversions, sizes, constants.
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include "runtime/lower.h"

namespace passnet::runtime {

namespace {

c10::IValue host_sizes(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().sizes().vec(); }
c10::IValue host_size(std::vector<c10::IValue>& inputs) {
  return inputs[0].toTensor().size(inputs[1].toInt());
}
c10::IValue host_strides(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().strides().vec(); }
c10::IValue host_dim(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().dim(); }
c10::IValue host_numel(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().numel(); }
c10::IValue host_dtype(std::vector<c10::IValue>& inputs) {
  return static_cast<int64_t>(inputs[0].toTensor().scalar_type());
}
c10::IValue host_is_contiguous(std::vector<c10::IValue>& inputs) {
  return inputs[0].toTensor().is_contiguous();
}
c10::IValue host_is_floating(std::vector<c10::IValue>& inputs) {
  return inputs[0].toTensor().is_floating_point();
}

Operand to_dtype(Builder& builder, const Operand& tensor, const Operand& dtype) {
  return builder.call("to", {tensor, dtype}, {}, true, "dtype");
}

/// Tensor.to in all its forms; the device is always the one the graph runs on.
Operand to(Builder& builder, const Bound& args) {
  Operand dtype, other, memory_format = args["memory_format"], non_blocking = Operand::of_bool(false),
                        copy = Operand::of_bool(false);
  int booleans = 0;
  for (const Operand& arg : args["args"].elements) {
    if (arg.kind == Kind::DType) dtype = arg;
    if (arg.kind == Kind::Tensor) other = arg;
    if (arg.kind == Kind::Bool) (booleans++ == 0 ? non_blocking : copy) = arg;
  }
  if (args.given("dtype")) dtype = args["dtype"];
  if (args.given("other")) other = args["other"];
  if (args.given("copy")) copy = args["copy"];
  const Operand& self = args["input"];
  if (other.kind == Kind::Tensor)
    return builder.call("to", {self, other, non_blocking, copy, memory_format}, {}, true, "other");
  if (dtype.kind == Kind::DType)
    return builder.call("to", {self, dtype, non_blocking, copy, memory_format}, {}, true, "dtype");
  if (memory_format.kind == Kind::None && copy.value.isBool() && !copy.value.toBool()) return self;
  return builder.call("to", {self}, {{"copy", copy}, {"memory_format", memory_format}}, true, "dtype_layout");
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

template <at::ScalarType Type>
Operand cast(Builder& builder, const Bound& args) {
  return to_dtype(builder, args["input"], Operand::of_dtype(Type));
}

Operand identity(Builder&, const Bound& args) { return args["input"]; }

Operand size_method(Builder& builder, const Bound& args) {
  if (!args.given("dim")) return shape_of(builder, args["input"]);
  return builder.host(host_size, Kind::Int, {args["input"], args["dim"]});
}

/// Flattens nested literal lists; fills `shape` from the nesting.
void flatten(const Operand& data, std::vector<Operand>& flat, std::vector<int64_t>& shape, size_t depth) {
  if (!data.is_sequence()) {
    flat.push_back(data);
    return;
  }
  if (data.slot >= 0) refuse("torch.tensor() of a list that is known only at run time");
  const auto length = static_cast<int64_t>(data.elements.size());
  if (shape.size() == depth) shape.push_back(length);
  if (shape[depth] != length)
    refuse(fmt::format("torch.tensor(): a row has {} elements, the one before {}", length, shape[depth]));
  for (const Operand& element : data.elements) flatten(element, flat, shape, depth + 1);
}

at::ScalarType literal_dtype(const std::vector<Operand>& flat) {
  at::ScalarType type = at::kBool;
  for (const Operand& element : flat) {
    if (element.kind == Kind::Float) return at::kFloat;
    if (element.kind == Kind::Int) type = at::kLong;
  }
  return flat.empty() ? at::kFloat : type;
}

c10::IValue host_scalar_tensor(std::vector<c10::IValue>& inputs) {
  const at::Scalar value = inputs[0].toScalar();
  const at::ScalarType type =
      inputs[1].isNone() ? (value.isFloatingPoint() ? at::kFloat : value.type()) : inputs[1].toScalarType();
  return at::full({}, value, type);
}

/// torch.tensor(data, dtype): literals become a constant, copied at each call since the graph may write to
/// it.
Operand tensor(Builder& builder, const Bound& args) {
  const Operand& data = args["data"];
  const Operand& dtype = args["dtype"];
  if (data.kind == Kind::Tensor) {
    const Operand copy = builder.call("clone", {data});
    return dtype.kind == Kind::None ? copy : to_dtype(builder, copy, dtype);
  }
  if (data.is_number() && data.slot >= 0)
    return builder.host(host_scalar_tensor, Kind::Tensor, {data, dtype});
  std::vector<Operand> flat;
  std::vector<int64_t> shape;
  flatten(data, flat, shape, 0);
  std::vector<double> reals;
  std::vector<int64_t> integers;
  const at::ScalarType natural = literal_dtype(flat);
  for (const Operand& element : flat) {
    if (!element.is_number())
      refuse(fmt::format("torch.tensor(): found {}, expected numbers", to_string(element.kind)));
    if (element.slot >= 0)
      throw LoweringError{unsupported("torch.tensor() of several numbers that are known only at run time")};
    const at::Scalar value = element.value.toScalar();
    natural == at::kFloat ? reals.push_back(value.toDouble()) : integers.push_back(value.toLong());
  }
  const at::ScalarType type =
      dtype.kind == Kind::None ? natural : static_cast<at::ScalarType>(dtype.value.toInt());
  at::Tensor values = natural == at::kFloat ? at::tensor(at::ArrayRef<double>(reals))
                                            : at::tensor(at::ArrayRef<int64_t>(integers));
  return builder.call("clone", {builder.constant_tensor(values.reshape(shape).to(type))});
}

Operand as_tensor(Builder& builder, const Bound& args) {
  if (args["data"].kind != Kind::Tensor) return tensor(builder, args);
  return args.given("dtype") ? to_dtype(builder, args["data"], args["dtype"]) : args["data"];
}

Operand nothing(Builder&, const Bound&) { return Operand::none(); }
Operand opaque(Builder&, const Bound&) { return Operand::in_slot(Kind::Opaque, -1); }

Operand enter_autocast(Builder&, const Bound& args) {
  if (args.text("device_type") == "cpu" && args.given("enabled") && args.flag("enabled"))
    throw LoweringError{unsupported("automatic mixed precision on the CPU")
                            .with_hint("capture the graph without torch.autocast")};
  return Operand::in_slot(Kind::Opaque, -1);
}

Operand sym_sum(Builder& builder, const Bound& args) {
  Operand total = Operand::of_int(0);
  for (const Operand& element : args["args"].elements) total = lower_operator(builder, "+", {total, element});
  return total;
}

c10::IValue host_to_int(std::vector<c10::IValue>& inputs) { return inputs[0].toScalar().toLong(); }
Operand sym_int(Builder& builder, const Bound& args) {
  return builder.host(host_to_int, Kind::Int, {args["a"]});
}

Operand size_constructor(Builder&, const Bound& args) { return args["sizes"]; }

Operand split(Builder& builder, const Bound& args) {
  return builder.call("split", {args["tensor"], args["split_size_or_sections"], args["dim"]});
}

const Rule kMethods[] = {
    {"Tensor.to",
     "input, *args, dtype=None, device=None, other=None, non_blocking=False, copy=None, memory_format=None",
     to},
    {"Tensor.type", "input, dtype=None, non_blocking=False", type_method},
    {"Tensor.float", "input", cast<at::kFloat>},
    {"Tensor.double", "input", cast<at::kDouble>},
    {"Tensor.half", "input", cast<at::kHalf>},
    {"Tensor.bfloat16", "input", cast<at::kBFloat16>},
    {"Tensor.long", "input", cast<at::kLong>},
    {"Tensor.int", "input", cast<at::kInt>},
    {"Tensor.short", "input", cast<at::kShort>},
    {"Tensor.char", "input", cast<at::kChar>},
    {"Tensor.byte", "input", cast<at::kByte>},
    {"Tensor.bool", "input", cast<at::kBool>},
    {"Tensor.cpu", "input", identity},
    {"Tensor.cuda", "input, device=None", identity},
    {"Tensor.requires_grad_", "input, requires_grad=True", identity},
    {"Tensor.size", "input, dim=None", size_method},
    {"Tensor.stride", "input",
     [](Builder& b, const Bound& a) { return b.host(host_strides, Kind::List, {a["input"]}); }},
    {"Tensor.dim", "input",
     [](Builder& b, const Bound& a) { return b.host(host_dim, Kind::Int, {a["input"]}); }},
    {"Tensor.numel", "input",
     [](Builder& b, const Bound& a) { return b.host(host_numel, Kind::Int, {a["input"]}); }},
    {"Tensor.nelement", "input",
     [](Builder& b, const Bound& a) { return b.host(host_numel, Kind::Int, {a["input"]}); }},
    {"torch.numel", "input",
     [](Builder& b, const Bound& a) { return b.host(host_numel, Kind::Int, {a["input"]}); }},
    {"Tensor.is_contiguous", "input",
     [](Builder& b, const Bound& a) { return b.host(host_is_contiguous, Kind::Bool, {a["input"]}); }},
    {"Tensor.is_floating_point", "input",
     [](Builder& b, const Bound& a) { return b.host(host_is_floating, Kind::Bool, {a["input"]}); }},
    {"Tensor.norm", "input, p='fro', dim=None, keepdim=False, dtype=None",
     [](Builder& b, const Bound& a) {
       return lower_call(b, ir::NodeKind::CallFunction, "torch.functional.norm",
                         {a["input"], a["p"], a["dim"], a["keepdim"]}, {{"dtype", a["dtype"]}});
     }},
    {"Tensor.split", "tensor, split_size_or_sections, dim=0", split},
    {"torch.functional.split", "tensor, split_size_or_sections, dim=0", split},
};

const Rule kFactories[] = {
    {"torch.tensor", "data, dtype=None, device=None, requires_grad=False, pin_memory=False", tensor},
    {"torch.as_tensor", "data, dtype=None, device=None", as_tensor},
    {"torch.Size", "sizes=()", size_constructor},
    {"torch.sym_sum", "args", sym_sum},
    {"torch.sym_int", "a", sym_int},
    {"torch.ops.aten.sym_size.int", "input, dim", size_method},
    // Calls that only matter to tracing, gradients or logging.
    {"torch._C._log_api_usage_once", "event", nothing},
    {"torch.ops.aten._assert_scalar.default", "condition, message", nothing},
    {"torch._check_is_size", "i, message=None, max=None", nothing},
    {"torch._check", "condition, message=None", nothing},
    {"torch._C._set_grad_enabled", "mode", nothing},
    {"torch.set_grad_enabled", "mode", nothing},
    {"torch.autograd.function.FunctionCtx", "", opaque},
    {"torch.amp.autocast_mode._enter_autocast", "device_type, dtype=None, enabled=True, cache_enabled=None",
     enter_autocast},
    {"torch.amp.autocast_mode._exit_autocast", "mode", nothing},
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

Operand lower_attribute(Builder& builder, std::string_view name, const Operand& object) {
  if (object.kind != Kind::Tensor)
    refuse(fmt::format("attribute '{}' of {}, expected a tensor", name, to_string(object.kind)));
  if (name == "shape") return shape_of(builder, object);
  if (name == "ndim") return builder.host(host_dim, Kind::Int, {object});
  if (name == "dtype") return builder.host(host_dtype, Kind::DType, {object});
  if (name == "data") return object;
  if (name == "device") {
    Operand device;
    device.kind = Kind::Device;
    return device;
  }
  if (name == "is_cuda" || name == "requires_grad") return Operand::of_bool(false);
  static const std::map<std::string_view, std::string_view> kOperators{
      {"T", "numpy_T"}, {"mT", "mT"}, {"H", "matrix_H"}, {"mH", "mH"}, {"real", "real"}, {"imag", "imag"}};
  if (const auto found = kOperators.find(name); found != kOperators.end())
    return builder.call(found->second, {object});
  refuse(fmt::format("unknown attribute '{}' of a tensor", name),
         "known: T, mT, H, mH, real, imag, shape, ndim, dtype, device, data");
}

}  // namespace passnet::runtime
