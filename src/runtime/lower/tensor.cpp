// torch.tensor and its like: tensors of literals, and of numbers that are known only at run time.
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/lower/lower.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

/// Flattens nested literal lists; fills `shape` from the nesting.
void flatten(const Operand& data, std::vector<Operand>& flat, std::vector<int64_t>& shape, size_t depth) {
  if (!data.is_sequence()) {
    flat.push_back(data);
    return;
  }
  if (data.slot >= 0) refuse("torch.tensor() of a list of tensors that is known only at run time");
  const auto length = static_cast<int64_t>(data.elements.size());
  if (shape.size() == depth) shape.resize(depth + 1, length);
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

c10::IValue to_graph_device(std::vector<c10::IValue>& inputs) { return inputs[0].toTensor().to(graph_device()); }

/// Tensors made of literals lie where the graph runs, but for those of no dimensions: every operator takes them from
/// the CPU too, as from PyTorch in Python, and reading their value waits for nothing.
Operand on_graph_device(Builder& builder, const Operand& made) {
  return graph_device().is_cpu() ? made : builder.host(to_graph_device, Kind::Tensor, {made});
}

/// A tensor of numbers and of tensors with one element, some of them known only at run time.
Operand gathered(Builder& builder, const std::vector<Operand>& flat, const std::vector<int64_t>& shape) {
  std::vector<Operand> parts;
  for (const Operand& element : flat) {
    if (element.kind != Kind::Tensor && !element.is_number())
      refuse(fmt::format("torch.tensor(): found {}, expected numbers", to_string(element.kind)));
    const Operand none = Operand::sequence(Kind::List, {});
    parts.push_back(
        on_graph_device(builder, element.kind == Kind::Tensor
                                     ? builder.call("reshape", {element, none})
                                     : builder.host(host_scalar_tensor, Kind::Tensor, {element, Operand::none()})));
  }
  std::vector<Operand> sizes;
  for (const int64_t size : shape) sizes.push_back(Operand::of_int(size));
  return builder.call("reshape", {builder.call("stack", {Operand::sequence(Kind::List, std::move(parts))}),
                                  Operand::sequence(Kind::List, std::move(sizes))});
}

c10::IValue tensor_of_ints(std::vector<c10::IValue>& inputs) {
  return at::tensor(at::ArrayRef<int64_t>(inputs[0].toIntVector()));
}

/// Literals become a constant, copied at each call since the graph may write to it.
/// real: the dtype of Python's floats where none is asked for.
Operand make(Builder& builder, const Operand& data, const Operand& dtype, at::ScalarType real = at::kFloat) {
  const auto finish = [&](const Operand& made) {
    return dtype.kind == Kind::None ? made : to_dtype(builder, made, dtype);
  };
  if (data.kind == Kind::Tensor) return finish(builder.call("clone", {data}));
  if (data.is_number() && data.slot >= 0) return builder.host(host_scalar_tensor, Kind::Tensor, {data, dtype});
  if (data.slot >= 0 && data.element == Kind::Int)
    return finish(on_graph_device(builder, builder.host(tensor_of_ints, Kind::Tensor, {data})));
  std::vector<Operand> flat;
  std::vector<int64_t> shape;
  flatten(data, flat, shape, 0);
  if (std::any_of(flat.begin(), flat.end(), [](const Operand& element) { return element.slot >= 0; }))
    return finish(gathered(builder, flat, shape));
  const bool floats = literal_dtype(flat) == at::kFloat;
  std::vector<double> reals;
  std::vector<int64_t> integers;
  for (const Operand& element : flat) {
    if (!element.is_number())
      refuse(fmt::format("torch.tensor(): found {}, expected numbers", to_string(element.kind)));
    const at::Scalar value = element.value.toScalar();
    floats ? reals.push_back(value.toDouble()) : integers.push_back(value.toLong());
  }
  at::Tensor values =
      (floats ? at::tensor(at::ArrayRef<double>(reals), at::kDouble) : at::tensor(at::ArrayRef<int64_t>(integers)))
          .reshape(shape);
  const c10::Device device = shape.empty() ? c10::Device(c10::kCPU) : graph_device();
  if (dtype.kind == Kind::DType && dtype.slot < 0)
    return builder.call(
        "clone", {builder.constant_tensor(values.to(static_cast<at::ScalarType>(dtype.value.toInt())).to(device))});
  values = values.to(floats ? real : literal_dtype(flat)).to(device);
  return finish(builder.call("clone", {builder.constant_tensor(values)}));
}

Operand tensor(Builder& builder, const Bound& args) { return make(builder, args["data"], args["dtype"]); }

Operand as_tensor(Builder& builder, const Bound& args) {
  if (args["data"].kind != Kind::Tensor) return tensor(builder, args);
  return args.given("dtype") ? to_dtype(builder, args["data"], args["dtype"]) : args["data"];
}

/// x.new_tensor(data): of x's dtype; floats on the way are not rounded to float32.
Operand new_tensor(Builder& builder, const Bound& args) {
  if (args.given("dtype")) return tensor(builder, args);
  return to_dtype(builder, make(builder, args["data"], Operand::none(), at::kDouble),
                  lower_attribute(builder, "dtype", args["input"]));
}

const Rule kTensorRules[] = {
    {"torch.tensor", tensor},
    {"torch.as_tensor", as_tensor},
    {"torch.asarray", as_tensor},
    {"Tensor.new_tensor", new_tensor},
};

}  // namespace

std::span<const Rule> tensor_rules() { return kTensorRules; }

}  // namespace passnet::runtime
