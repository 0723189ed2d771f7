// Operators that a plan calls PyTorch for: products, convolutions and attention. For the loops what they give lies in memory
// like an input, once the plan has made it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "author/define/definitions.h"
#include "author/subject/memory.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr std::array<std::string_view, 13> kCalled = {"conv1d",
                                                      "conv2d",
                                                      "conv3d",
                                                      "conv_transpose1d",
                                                      "conv_transpose2d",
                                                      "conv_transpose3d",
                                                      "linear",
                                                      "matmul",
                                                      "mm",
                                                      "bmm",
                                                      "addmm",
                                                      "baddbmm",
                                                      "scaled_dot_product_attention"};

/// Tells whether there are two operands, which makes it a product. More of them are several, in an order that PyTorch chooses.
bool is_product(const ir::Graph& graph, const Arguments& call) {
  const Arg& operands = call.at("operands");
  const bool are_several = operands.kind == ArgKind::Tuple || operands.kind == ArgKind::List;
  return are_several && graph.elements(operands).size() == 2;
}

bool is_convolution(std::string_view name) { return name.starts_with("conv"); }

}  // namespace

Result<void> Definitions::called(NodeId id, const Arguments& call, std::string_view name, const std::string& why) {
  const bool is_known =
      std::ranges::find(kCalled, name) != kCalled.end() || (name == "einsum" && is_product(graph_, call));
  if (!is_known || ir::overwrites_input(graph_, id)) return unsupported(why);
  if (name == "scaled_dot_product_attention" && !call.hold("dropout_p=0.0"))
    return unsupported("attention that drops elements at random");
  const bool without_bias = products_.without_bias.contains(id);
  const std::optional<NodeId> bias = without_bias ? std::optional(call.at("bias").node) : std::nullopt;
  PASSNET_TRY(Tensor result, result_of(id));
  if (elements_[result.element].compute != Compute::Float) return unsupported(why);
  std::vector<NodeId> apart;  // what it is not given
  if (bias) apart.push_back(*bias);
  result.channels_last = products_.channels_last.contains(id);
  if (result.channels_last) apart.push_back(call.at("input").node);
  PASSNET_TRY(result.takes, operands_of(id, apart));
  if (without_bias) result.name += "_without_bias";
  if (result.channels_last) result.name += "_channels_last";
  result.shape = called_shape(id, call, name, result.name);
  result.node = id;
  result.call = Call{id, without_bias, products_.measured.contains(id), why};
  if (result.channels_last) {
    PASSNET_TRY(const TensorId input, tensor(call.at("input")));
    result.takes.push_back(with_channels_last(input));
    result.call->input = tensors_[result.takes.back()].name;
  }
  const Tensor shaped = result;
  const TensorId made = add(std::move(result));
  PASSNET_TRY_VOID(lay_out(made));
  tensor_of_[id] = made;
  if (!bias && shaped.channels_last) {
    // The layout that PyTorch gives it, where somebody needs that.
    Tensor in_order = same_elements(made, std::string(graph_.node(id).name));
    in_order.node = id;
    tensor_of_[id] = add(std::move(in_order));
  }
  if (!bias) return {};
  // PyTorch rounds what the convolution gives, and adds the bias to it.
  PASSNET_TRY(Tensor with_bias, result_of(id));
  with_bias.shape = shaped.shape;
  const TensorId added = *tensor_of_[*bias];
  const size_t dim = with_bias.shape.size() - (tensors_[*tensor(call.at("weight"))].shape.size() - 1);
  return define(id, std::move(with_bias), {made, added}, 1, [=](Scope& scope, const Place& place) {
    return scope.exprs().apply("$0 + $1", {scope.element(made, place), scope.element(added, {place[dim]})},
                               Compute::Float);
  });
}

Tensor Definitions::same_elements(TensorId of, const std::string& name) const {
  Tensor copy;
  copy.name = name;
  copy.shape = tensors_[of].shape;
  copy.element = tensors_[of].element;
  copy.takes = {of};
  copy.at = [of](Scope& scope, const Place& place) { return scope.element(of, place); };
  return copy;
}

TensorId Definitions::with_channels_last(TensorId picture) {
  if (const auto known = channels_last_.find(picture); known != channels_last_.end()) return known->second;
  Tensor copy = same_elements(picture, tensors_[picture].name + "_channels_last");
  copy.channels_last = true;
  return channels_last_[picture] = add(std::move(copy));
}

// Operands that must lie in memory for the call: the plan makes views, so the tensors that they view.
Result<std::vector<TensorId>> Definitions::operands_of(NodeId id, const std::vector<NodeId>& but) const {
  std::vector<TensorId> operands;
  bool known = true, is_new = true;
  ir::for_each_input(graph_, graph_.node(id), [&](NodeId input) {
    if (std::ranges::find(but, input) != but.end() || subject_.types[0][input].kind == ValueType::Kind::Constant)
      return;
    NodeId base = input;
    while (!given_[base] && shares_memory(subject_, base)) base = graph_.args(base)[0].node;
    if (tensor_of_[base] && std::ranges::find(operands, *tensor_of_[base]) == operands.end())
      operands.push_back(*tensor_of_[base]);
    known = known && tensor_of_[base];
    // By its own name: what it was before another operator overwrote it, or after.
    is_new =
        is_new && known && (given_[base] ? given_[base] == tensor_of_[base] : tensors_[*tensor_of_[base]].node == base);
  });
  if (!known) return unsupported("what it takes is no tensor of known type");
  if (!is_new) return unsupported("what it takes was overwritten under another name");
  return operands;
}

// By the operands where they tell; else the plan asks what PyTorch gave.
std::vector<SizeId> Definitions::called_shape(NodeId id, const Arguments& call, std::string_view name,
                                              const std::string& made) {
  const std::vector<ValueType> types = subject_.types_of(id);
  const size_t rank = types[0].tensor.shape.size();
  std::vector<std::optional<SizeId>> shape(rank);
  const auto shape_of = [&](std::string_view parameter) {
    const Result<TensorId> of = tensor(call.at(parameter));
    return of ? tensors_[*of].shape : std::vector<SizeId>();
  };
  if (is_convolution(name)) {
    const std::vector<SizeId> x = shape_of("input"), weight = shape_of("weight");
    if (x.size() == rank && weight.size() == rank) {
      shape[0] = x[0];
      if (!name.starts_with("conv_transpose")) shape[1] = weight[0];
    }
  } else if (name == "linear") {
    const std::vector<SizeId> x = shape_of("input"), weight = shape_of("weight");
    if (x.size() == rank && weight.size() == 2) {
      std::copy(x.begin(), x.end() - 1, shape.begin());
      shape.back() = weight[0];
    }
  } else if (name == "matmul" || name == "mm" || name == "bmm") {
    const std::vector<SizeId> a = shape_of("input"), b = shape_of(name == "matmul" ? "other" : "mat2");
    if (a.size() == rank && b.size() == rank && rank >= 2 && std::equal(a.begin(), a.end() - 2, b.begin())) {
      std::copy(a.begin(), a.end() - 1, shape.begin());
      shape.back() = b.back();
    }
  } else if (name == "scaled_dot_product_attention") {
    const std::vector<SizeId> query = shape_of("query"), value = shape_of("value");
    if (query.size() == rank && value.size() == rank) {
      std::copy(query.begin(), query.end() - 1, shape.begin());
      shape.back() = value.back();
    }
  }
  std::vector<SizeId> all;
  for (size_t dim = 0; dim < rank; ++dim) {
    ByExample values;
    for (const ValueType& type : types) values.push_back(type.tensor.shape[dim]);
    // A size that the operands tell is the same in each graph, unless they are broadcast.
    if (shape[dim] && sizes_.values(*shape[dim]) == values)
      all.push_back(*shape[dim]);
    else
      all.push_back(sizes_.dimension(values, fmt::format("{}.shape[{}]", made, dim), dimension_name(rank, dim)));
  }
  return all;
}

}  // namespace passnet::author
