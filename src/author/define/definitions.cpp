#include "author/define/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "author/subject/order.h"
#include "author/subject/part.h"
#include "base/strings.h"
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

Definitions::Definitions(Subject& subject, ProductOptions products)
    : subject_(subject),
      graph_(subject.graph),
      products_(std::move(products)),
      sizes_(subject.types.size(), subject.names),
      indices_(sizes_),
      exprs_(indices_),
      tensor_of_(subject.graph.size()),
      given_(subject.graph.size()) {}

Result<ElementId> Definitions::element_of(const std::vector<DType>& by_example) {
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (elements_[i].by_example == by_example) return static_cast<ElementId>(i);
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
    const auto source = dtype_inputs_.find(by_example);
    if (source == dtype_inputs_.end())
      return unsupported("its dtype differs between the graphs and is that of no input");
    const auto varying = std::ranges::count_if(elements_, &Element::varies);
    element.plan = source->second;
    element.kernel = varying == 0 ? "T" : fmt::format("T{}", varying);
  }
  elements_.push_back(std::move(element));
  return static_cast<ElementId>(elements_.size() - 1);
}

Result<SizeId> Definitions::size_of(const std::vector<ValueType>& types, size_t dim) const {
  ByExample values;
  for (const ValueType& type : types) values.push_back(type.tensor.shape[dim]);
  const std::optional<SizeId> known = sizes_.known(values);
  if (!known) return unsupported(fmt::format("dimension {} follows from no dimension of an input", dim));
  return *known;
}

Result<Tensor> Definitions::result_of(const std::string& name, const std::vector<ValueType>& types) {
  Tensor made;
  made.name = name;
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

Result<Tensor> Definitions::result_of(NodeId id) {
  return result_of(std::string(graph_.node(id).name), subject_.types_of(id));
}

TensorId Definitions::add(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors_.size() - 1);
}

Result<void> Definitions::input(NodeId id) {
  const std::vector<ValueType> types = subject_.types_of(id);
  const std::string name(graph_.node(id).name);
  if (types[0].kind == ValueType::Kind::Constant) {
    std::vector<DType> dtypes;
    for (const ValueType& type : types) dtypes.push_back(type.dtype);
    if (types[0].constant == ArgKind::DType) dtype_inputs_.emplace(dtypes, name);
    return {};
  }
  std::vector<DType> dtypes;
  for (const ValueType& type : types) dtypes.push_back(type.tensor.dtype);
  dtype_inputs_.emplace(dtypes, name + ".dtype");
  PASSNET_TRY(Tensor made, result_of(id));
  made.is_given = true;
  const size_t rank = types[0].tensor.shape.size();
  for (size_t dim = 0; dim < rank; ++dim) {
    ByExample values;
    for (const ValueType& type : types) values.push_back(type.tensor.shape[dim]);
    made.shape.push_back(sizes_.dimension(values, fmt::format("{}.shape[{}]", name, dim), dimension_name(rank, dim)));
  }
  if (std::ranges::all_of(types, [](const ValueType& type) { return type.tensor.is_contiguous(); })) {
    made.strides = sizes_.contiguous_strides(made.shape);
  } else {
    for (size_t dim = 0; dim < rank; ++dim) {
      ByExample values;
      for (const ValueType& type : types) values.push_back(type.tensor.strides[dim]);
      made.strides.push_back(
          sizes_.dimension(values, fmt::format("{}.stride({})", name, dim), fmt::format("{}_step", name)));
    }
  }
  tensor_of_[id] = given_[id] = add(std::move(made));
  return {};
}

Result<void> Definitions::overwrite(TensorId value, TensorId input) {
  if (tensors_[value].shape != tensors_[input].shape || tensors_[value].element != tensors_[input].element)
    return unsupported("it overwrites a part of an input of the graph");
  tensors_[value].overwrites = input;
  tensors_[value].name = tensors_[input].name;
  return {};
}

Result<void> Definitions::lay_out(TensorId id) {
  Tensor& tensor = tensors_[id];
  if (tensor.overwrites) {
    tensor.strides = tensors_[*tensor.overwrites].strides;
    return {};
  }
  lay_out_in_order(id);
  if (tensor.channels_last) {
    tensor.order = {0, 2, 3, 1};
    lay_out_by_order(tensor);
    return {};
  }
  if (!tensor.node) return {};
  const std::optional<std::vector<size_t>> order = common_order(subject_.types_of(*tensor.node));
  if (!order) return unsupported("its elements lie in an order that no kernel writes");
  if (std::ranges::is_sorted(*order)) return {};
  tensor.order = *order;
  lay_out_by_order(tensor);
  return {};
}

void Definitions::lay_out_by_order(Tensor& tensor) {
  std::vector<SizeId> in_order;
  for (const size_t dim : tensor.order) in_order.push_back(tensor.shape[dim]);
  const std::vector<SizeId> strides = sizes_.contiguous_strides(in_order);
  for (size_t i = 0; i < strides.size(); ++i) tensor.strides[tensor.order[i]] = strides[i];
}

void Definitions::lay_out_in_order(TensorId id) {
  tensors_[id].order.clear();
  tensors_[id].strides = sizes_.contiguous_strides(tensors_[id].shape);
}

Result<void> Definitions::define(NodeId id, Tensor tensor, std::vector<TensorId> takes, int work, At at) {
  tensor.takes = std::move(takes);
  tensor.work = work;
  tensor.node = id;
  // A value that is computed from rows is best computed row by row as well.
  for (const TensorId part : tensor.takes) {
    if (tensor.loops.empty() && tensors_[part].shape == tensor.shape) tensor.loops = tensors_[part].loops;
  }
  const ElementId element = tensor.element;
  if (tensor.is_view) {
    tensor.at = std::move(at);
  } else {
    // PyTorch rounds what each operator gives: a product of floats too, before another one adds to it.
    const bool is_exact = elements_[element].is_exact();
    tensor.at = [at = std::move(at), element, is_exact](Scope& scope, const Place& place) {
      const ExprId value = at(scope, place);
      return is_exact && !scope.exprs().at(value).is_product() ? value : scope.exprs().round(value, element);
    };
  }
  tensor_of_[id] = add(std::move(tensor));
  return {};
}

TensorId Definitions::hidden(const std::string& name, std::vector<SizeId> shape, std::vector<TensorId> takes, int work,
                             At at) {
  Tensor made;
  made.name = name;
  made.shape = std::move(shape);
  made.element = *element_of(std::vector<DType>(subject_.types.size(), DType::Float32));
  made.takes = std::move(takes);
  made.work = work;
  made.at = std::move(at);
  return add(std::move(made));
}

Result<TensorId> Definitions::tensor(const Arg& arg) const {
  if (arg.kind != ArgKind::Node || !tensor_of_[arg.node]) return unsupported("an argument is no tensor");
  return *tensor_of_[arg.node];
}

std::optional<TensorId> Definitions::optional_tensor(const Arg& arg) const {
  return arg.kind == ArgKind::Node ? tensor_of_[arg.node] : std::nullopt;
}

Result<Definitions::Operand> Definitions::operand(const Arg& arg, Compute compute) {
  Operand made;
  switch (arg.kind) {
    case ArgKind::Bool: made.number = exprs_.integer(arg.boolean ? 1 : 0, compute); return made;
    case ArgKind::Int: made.number = exprs_.integer(arg.integer, compute); return made;
    case ArgKind::Float:
      if (compute == Compute::Bool || compute == Compute::Int) {
        // The values that it is put among round it.
        if (!std::isfinite(arg.real) || std::trunc(arg.real) != arg.real)
          return unsupported("a float beside whole numbers");
        made.number = exprs_.integer(static_cast<int64_t>(arg.real), compute);
        return made;
      }
      made.number = exprs_.number(arg.real, compute);
      return made;
    case ArgKind::Node: break;
    default: return unsupported("an argument is neither a tensor nor a number");
  }
  if (tensor_of_[arg.node]) {
    made.tensor = tensor_of_[arg.node];
    return made;
  }
  const ValueType& type = subject_.types[0][arg.node];
  if (type.kind != ValueType::Kind::Constant) return unsupported("an argument is neither a tensor nor a number");
  const bool is_number =
      type.constant == ArgKind::Bool || type.constant == ArgKind::Int || type.constant == ArgKind::Float;
  if (!is_number) return unsupported("an argument that differs between the graphs is no number");
  if (type.constant == ArgKind::Float && (compute == Compute::Int || compute == Compute::Bool))
    return unsupported("a float beside whole numbers");
  made.number = exprs_.parameter(std::string(graph_.node(arg.node).name), compute);
  return made;
}

Definitions::Place Definitions::broadcast(Scope& scope, TensorId tensor, const Place& place) const {
  const std::vector<SizeId>& shape = tensors_[tensor].shape;
  Place own;
  const size_t first = place.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    own.push_back(scope.sizes().is_one(shape[i]) ? scope.indices().zero() : place[first + i]);
  return own;
}

ExprId Definitions::operand_at(Scope& scope, const Operand& operand, const Place& place, Compute compute) const {
  ExprTable& exprs = scope.exprs();
  const ExprId given =
      operand.tensor ? scope.element(*operand.tensor, broadcast(scope, *operand.tensor, place)) : operand.number;
  if (operand.cast && compute == Compute::Int && exprs.at(given).is_real()) return exprs.truncate(given, *operand.cast);
  const ExprId value = exprs.convert(given, compute);
  if (!operand.cast) return value;
  const ExprId rounded = exprs.round(value, *operand.cast);
  if (operand.cast_on == RoundsOn::Gpu) return exprs.by_target(value, rounded);
  return operand.cast_on == RoundsOn::Cpu ? exprs.by_target(rounded, value) : rounded;
}

Result<void> Definitions::node(NodeId id) {
  PASSNET_TRY_VOID(define_call(id));
  // Whoever takes what it overwrites later on takes the new value.
  for (NodeId old = id; ir::overwrites_input(graph_, old);) {
    const auto args = graph_.args(old);
    if (args.empty() || args[0].kind != ArgKind::Node) break;
    old = args[0].node;
    if (tensor_of_[old]) tensor_of_[old] = tensor_of_[id];
  }
  return {};
}

Result<void> Definitions::define_call(NodeId id) {
  Result<ir::CanonicalCall> found = ir::canonicalize(graph_, id);
  if (!found) return unsupported(found.error().message);
  const std::vector<ValueType> types = subject_.types_of(id);
  for (const ValueType& type : types) {
    if (type.kind == ValueType::Kind::List) continue;
    if (!type.is_tensor()) return unsupported("what it gives is no tensor of known type");
    if (type.tensor.shape.size() != types[0].tensor.shape.size())
      return unsupported("its rank differs between the graphs");
  }
  std::string_view name = found->name;
  if (name.ends_with('_')) name.remove_suffix(1);
  const Arguments call(graph_, *found);
  if (products_.all_are_calls && called(id, call, name, "a product, which this form leaves to PyTorch")) return {};
  Result<void> defined = define_by_elements(id, call, name);
  if (defined || !products_.calls) return defined;
  return called(id, call, name, defined.error().message);
}

Result<void> Definitions::define_by_elements(NodeId id, const Arguments& call, std::string_view name) {
  PASSNET_TRY(const bool is_view, view(id, call, name));
  if (is_view) return {};
  if (name == "batch_norm") return batch_norm(id, call);
  if (name == "prelu") return prelu(id, call);
  if (name == "glu") return glu(id, call);
  PASSNET_TRY(const bool is_pointwise, pointwise(id, call, name));
  if (is_pointwise) return {};
  PASSNET_TRY(const bool is_fold, fold(id, call, name));
  if (is_fold) return {};
  PASSNET_TRY(const bool is_gather, gather(id, call, name));
  if (is_gather) return {};
  PASSNET_TRY(const bool is_choice, choice(id, call, name));
  if (is_choice) return {};
  PASSNET_TRY(const bool is_contraction, contraction(id, call, name));
  if (is_contraction) return {};
  PASSNET_TRY(const bool is_creation, creation(id, call, name));
  if (is_creation) return {};
  PASSNET_TRY(const bool is_window, window(id, call, name));
  if (is_window) return {};
  return unsupported(fmt::format("no kernel can be written for {}", quoted(name)));
}

Result<void> Definitions::batch_norm(NodeId id, const Arguments& call) {
  PASSNET_TRY(const bool training, call.flag("training"));
  if (training) return unsupported("batch_norm in training changes its statistics");
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(Tensor result, result_of(id));
  result.shape = tensors_[x].shape;
  if (elements_[tensors_[x].element].compute != Compute::Float)
    return unsupported("batch_norm of another type than float");
  if (result.shape.size() < 2) return unsupported("batch_norm of fewer than two dimensions");
  PASSNET_TRY(const Operand eps, operand(call.at("eps"), Compute::Float));
  PASSNET_TRY(const TensorId mean, tensor(call.at("running_mean")));
  PASSNET_TRY(const TensorId variance, tensor(call.at("running_var")));
  const std::optional<TensorId> weight = optional_tensor(call.at("weight")), bias = optional_tensor(call.at("bias"));
  std::vector<TensorId> takes = {x, mean, variance};
  for (const auto& given : {weight, bias}) {
    if (given) takes.push_back(*given);
  }
  // Rounds as PyTorch does: on a CPU it has one factor and one summand per channel, on a GPU it subtracts the mean
  // first.
  const auto at = [=](Scope& scope, const Place& place) {
    ExprTable& exprs = scope.exprs();
    const Place channel = {place[1]};
    const ExprId element = scope.element(x, place), center = scope.element(mean, channel);
    const ExprId spread = scope.element(variance, channel),
                 inverse = exprs.apply("1.0f / sqrt($0 + $1)", {spread, eps.number});
    const ExprId factor = weight ? scope.element(*weight, channel) : exprs.number(1);
    const ExprId summand = bias ? scope.element(*bias, channel) : exprs.number(0);
    const ExprId scale = weight ? exprs.apply("$0 * $1", {inverse, factor}) : inverse;
    const ExprId shift =
        bias ? exprs.apply("$0 - $1 * $2", {summand, center, scale}) : exprs.apply("-($0 * $1)", {center, scale});
    return exprs.by_target(
        exprs.apply("$0 * $1 + $2", {element, scale, shift}),
        exprs.apply("batch_normalized($0, $1, $2, $3, $4)",
                    {element, center, exprs.apply("rsqrt($0 + $1)", {spread, eps.number}), factor, summand}));
  };
  return define(id, std::move(result), std::move(takes), 3, at);
}

// One slope for all elements, or one for each channel.
Result<void> Definitions::prelu(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  PASSNET_TRY(const TensorId weight, tensor(call.at("weight")));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float) return unsupported("prelu of another type than float");
  result.shape = tensors_[x].shape;
  const std::vector<SizeId> slopes = tensors_[weight].shape;
  const bool by_channel = slopes.size() == 1 && !sizes_.is_one(slopes[0]);
  if (slopes.size() > 1 || (by_channel && (result.shape.size() < 2 || result.shape[1] != slopes[0])))
    return unsupported("prelu with slopes of another shape");
  return define(id, std::move(result), {x, weight}, 2, [=](Scope& scope, const Place& place) {
    const Place channel = slopes.empty() ? Place() : Place{by_channel ? place[1] : scope.indices().zero()};
    return scope.exprs().apply("?($0 > 0.0f, $0, $0 * $1)", {scope.element(x, place), scope.element(weight, channel)},
                               Compute::Float);
  });
}

Result<void> Definitions::glu(NodeId id, const Arguments& call) {
  PASSNET_TRY(const TensorId x, tensor(call.at("input")));
  const auto rank = static_cast<int64_t>(tensors_[x].shape.size());
  PASSNET_TRY(const int64_t dim, call.dimension("dim", rank));
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float) return unsupported("glu of another type than float");
  result.shape = tensors_[x].shape;
  const auto at_dim = static_cast<size_t>(dim);
  PASSNET_TRY(result.shape[at_dim], sizes_.quotient(result.shape[at_dim], sizes_.literal(2)));
  const SizeId half = result.shape[at_dim];
  const auto at = [=](Scope& scope, const Place& place) {
    Place gate = place;
    gate[at_dim] = scope.indices().add(scope.indices().size(half), gate[at_dim]);
    return scope.exprs().apply("$0 * sigmoid($1)", {scope.element(x, place), scope.element(x, gate)}, Compute::Float);
  };
  return define(id, std::move(result), {x}, 14, at);
}

}  // namespace passnet::author
