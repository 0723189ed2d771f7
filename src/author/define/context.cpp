#include "author/define/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "author/subject/order.h"
#include "author/subject/part.h"
#include "base/text/strings.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::DType;
using ir::NodeId;

Compute compute_of(DType dtype) {
  if (dtype == DType::Float64) return Compute::Double;
  if (dtype == DType::Bool) return Compute::Bool;
  return ir::is_integral(dtype) ? Compute::Int : Compute::Float;
}

const char* dimension_name(size_t rank, size_t dim) {
  constexpr const char* kNames[5][5] = {{"width"},
                                        {"rows", "width"},
                                        {"batch", "length", "width"},
                                        {"batch", "channels", "height", "width"},
                                        {"batch", "channels", "depth", "height", "width"}};
  return rank >= 1 && rank <= 5 ? kNames[rank - 1][dim] : "size";
}

Context::Context(Subject& given_subject, ProductOptions given_products)
    : subject(given_subject),
      graph(subject.graph),
      products(std::move(given_products)),
      sizes(subject.types.size(), subject.names),
      indices(sizes),
      exprs(indices),
      tensor_of(graph.size()),
      given(graph.size()) {}

Result<ElementId> Context::element_of(const std::vector<DType>& by_example) {
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].by_example == by_example) return static_cast<ElementId>(i);
  }
  Element element;
  element.by_example = by_example;
  element.compute = compute_of(by_example[0]);
  for (const DType dtype : by_example) {
    if (kernel_type(dtype).empty()) return unsupported(fmt::format("no kernel takes {}", ir::name(dtype)));
    if (compute_of(dtype) != element.compute)
      return unsupported(
          fmt::format("{} in one graph and {} in another need two passes", ir::name(by_example[0]), ir::name(dtype)));
    element.varies = element.varies || dtype != by_example[0];
  }
  if (!element.varies) {
    element.plan = fmt::format("torch.{}", ir::name(by_example[0]));
    element.kernel = kernel_type(by_example[0]);
  } else {
    const auto source = dtype_inputs.find(by_example);
    if (source == dtype_inputs.end())
      return unsupported("its dtype differs between the graphs and is that of no input");
    const auto varying = std::ranges::count_if(elements, &Element::varies);
    element.plan = source->second;
    element.kernel = varying == 0 ? "T" : fmt::format("T{}", varying);
  }
  elements.push_back(std::move(element));
  return static_cast<ElementId>(elements.size() - 1);
}

Result<SizeId> Context::size_of(const std::vector<ValueType>& types, size_t dim) const {
  const std::optional<SizeId> known = sizes.known(sizes_along(types, dim));
  if (!known) return unsupported(fmt::format("dimension {} follows from no dimension of an input", dim));
  return *known;
}

Result<Tensor> Context::result_of(NodeId id) {
  Tensor made;
  made.name = graph.node(id).name;
  made.node = id;
  const std::vector<ValueType> types = subject.types_of(id);
  std::vector<DType> dtypes;
  for (const ValueType& type : types) {
    if (!type.is_tensor()) return unsupported("what it gives is no tensor of known type");
    if (type.tensor.shape.size() != types[0].tensor.shape.size())
      return unsupported("its rank differs between the graphs");
    dtypes.push_back(type.tensor.dtype);
  }
  PASSNET_TRY(made.element, element_of(dtypes));
  return made;
}

Result<Tensor> Context::float_result_of(NodeId id, std::string_view what) {
  PASSNET_TRY(Tensor made, result_of(id));
  if (elements[made.element].compute != Compute::Float)
    return unsupported(fmt::format("{} of another type than float", what));
  return made;
}

TensorId Context::add(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size() - 1);
}

Result<void> Context::lay_out(TensorId id) {
  Tensor& tensor = tensors[id];
  if (tensor.overwrites) {
    tensor.strides = tensors[*tensor.overwrites].strides;
    return {};
  }
  lay_out_in_order(id);
  if (tensor.channels_last) {
    tensor.order = {0, 2, 3, 1};
  } else if (tensor.node) {
    const std::optional<std::vector<size_t>> order = common_order(subject.types_of(*tensor.node));
    if (!order) return unsupported("its elements lie in an order that no kernel writes");
    if (!std::ranges::is_sorted(*order)) tensor.order = *order;
  }
  if (tensor.order.empty()) return {};
  std::vector<SizeId> in_order;
  for (const size_t dim : tensor.order) in_order.push_back(tensor.shape[dim]);
  const std::vector<SizeId> strides = sizes.contiguous_strides(in_order);
  for (size_t i = 0; i < strides.size(); ++i) tensor.strides[tensor.order[i]] = strides[i];
  return {};
}

void Context::lay_out_in_order(TensorId id) {
  tensors[id].order.clear();
  tensors[id].strides = sizes.contiguous_strides(tensors[id].shape);
}

Result<void> Context::define(Tensor tensor, std::vector<TensorId> takes, int work, At at) {
  tensor.takes = std::move(takes);
  tensor.work = work;
  // A value that is computed from rows is best computed row by row as well.
  for (const TensorId part : tensor.takes) {
    if (tensor.loops.empty() && tensors[part].shape == tensor.shape) tensor.loops = tensors[part].loops;
  }
  const ElementId element = tensor.element;
  if (tensor.is_view) {
    tensor.at = std::move(at);
  } else {
    // PyTorch rounds what each operator gives: a product of floats too, before another one adds to it.
    const bool is_exact = elements[element].is_exact();
    tensor.at = [at = std::move(at), element, is_exact](Scope& scope, const Place& place) {
      const ExprId value = at(scope, place);
      return is_exact && !scope.exprs.at(value).is_product() ? value : scope.exprs.round(value, element);
    };
  }
  const NodeId id = *tensor.node;
  tensor_of[id] = add(std::move(tensor));
  return {};
}

Result<void> Context::define_view(NodeId id, TensorId of, std::function<Place(Scope&, const Place&)> place,
                                  std::vector<SizeId> loops) {
  PASSNET_TRY(Tensor result, result_of(id));
  result.loops = std::move(loops);
  if (result.element != tensors[of].element) return unsupported("a view of another dtype");
  result.is_view = true;
  const std::vector<ValueType> types = subject.types_of(id);
  for (size_t dim = 0; dim < types[0].tensor.shape.size(); ++dim) {
    PASSNET_TRY(result.shape.emplace_back(), size_of(types, dim));
  }
  return define(std::move(result), {of}, 0, [of, place = std::move(place)](Scope& scope, const Place& at) {
    return scope.element(of, place(scope, at));
  });
}

TensorId Context::hidden(const std::string& name, std::vector<SizeId> shape, std::vector<TensorId> takes, int work,
                         At at) {
  Tensor made;
  made.name = name;
  made.shape = std::move(shape);
  made.element = *element_of(std::vector<DType>(subject.types.size(), DType::Float32));
  made.takes = std::move(takes);
  made.work = work;
  made.at = std::move(at);
  return add(std::move(made));
}

Result<TensorId> Context::tensor(const Arg& arg) const {
  if (arg.kind != ArgKind::Node || !tensor_of[arg.node]) return unsupported("an argument is no tensor");
  return *tensor_of[arg.node];
}

std::optional<TensorId> Context::optional_tensor(const Arg& arg) const {
  return arg.kind == ArgKind::Node ? tensor_of[arg.node] : std::nullopt;
}

Result<Operand> Context::operand(const Arg& arg, Compute compute) {
  switch (arg.kind) {
    case ArgKind::Bool: return Operand{.number = exprs.integer(arg.boolean ? 1 : 0, compute)};
    case ArgKind::Int: return Operand{.number = exprs.integer(arg.integer, compute)};
    case ArgKind::Float:
      if (compute == Compute::Bool || compute == Compute::Int) {
        // The values that it is put among round it.
        if (!std::isfinite(arg.real) || std::trunc(arg.real) != arg.real)
          return unsupported("a float beside whole numbers");
        return Operand{.number = exprs.integer(static_cast<int64_t>(arg.real), compute)};
      }
      return Operand{.number = exprs.number(arg.real, compute)};
    case ArgKind::Node: break;
    default: return unsupported("an argument is neither a tensor nor a number");
  }
  if (tensor_of[arg.node]) return Operand{.tensor = tensor_of[arg.node]};
  const ValueType& type = subject.types[0][arg.node];
  if (type.kind != ValueType::Kind::Constant) return unsupported("an argument is neither a tensor nor a number");
  const bool is_number =
      type.constant == ArgKind::Bool || type.constant == ArgKind::Int || type.constant == ArgKind::Float;
  if (!is_number) return unsupported("an argument that differs between the graphs is no number");
  if (type.constant == ArgKind::Float && (compute == Compute::Int || compute == Compute::Bool))
    return unsupported("a float beside whole numbers");
  return Operand{.number = exprs.parameter(std::string(graph.node(arg.node).name), compute)};
}

Place Context::broadcast(Scope& scope, TensorId tensor, const Place& place) const {
  const std::vector<SizeId>& shape = tensors[tensor].shape;
  Place own;
  const size_t first = place.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    own.push_back(scope.sizes.is_one(shape[i]) ? scope.indices.zero() : place[first + i]);
  return own;
}

ExprId Context::operand_at(Scope& scope, const Operand& operand, const Place& place, Compute compute) const {
  const ExprId given =
      operand.tensor ? scope.element(*operand.tensor, broadcast(scope, *operand.tensor, place)) : operand.number;
  if (operand.cast && compute == Compute::Int && scope.exprs.at(given).is_real())
    return scope.exprs.truncate(given, *operand.cast);
  const ExprId value = scope.exprs.convert(given, compute);
  if (!operand.cast) return value;
  const ExprId rounded = scope.exprs.round(value, *operand.cast);
  if (operand.cast_on == RoundsOn::Gpu) return scope.exprs.by_target(value, rounded);
  return operand.cast_on == RoundsOn::Cpu ? scope.exprs.by_target(rounded, value) : rounded;
}

}  // namespace passnet::author
