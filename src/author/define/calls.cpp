// Operators that a plan calls PyTorch for: products, convolutions and attention. For the loops what they give lies in memory
// like an input, once the plan has made it.
#include <fmt/format.h>

#include <algorithm>

#include "author/define/operators.h"
#include "author/subject/memory.h"

namespace passnet::author::op {

using namespace formula;  // NOLINT: A + B

using ir::Arg;
using ir::NodeId;

Tensor same_elements(const Context& c, TensorId of, const std::string& name) {
  Tensor copy;
  copy.name = name;
  copy.shape = c.tensors[of].shape;
  copy.element = c.tensors[of].element;
  copy.takes = {of};
  copy.at = [of](Scope& scope, const Place& place) { return scope.element(of, place); };
  return copy;
}

namespace {

constexpr std::string_view kCalled =
    " conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear matmul mm bmm addmm baddbmm "
    "scaled_dot_product_attention ";

/// Tells whether there are two operands, which makes it a product. More of them are several, in an order that PyTorch chooses.
bool is_product(const ir::Graph& graph, const Arguments& call) {
  const Arg& operands = call.at("operands");
  return is_sequence(operands) && graph.elements(operands).size() == 2;
}

bool is_convolution(std::string_view name) { return name.starts_with("conv"); }

TensorId with_channels_last(Context& c, TensorId picture) {
  if (const auto known = c.channels_last.find(picture); known != c.channels_last.end()) return known->second;
  Tensor copy = same_elements(c, picture, c.tensors[picture].name + "_channels_last");
  copy.channels_last = true;
  return c.channels_last[picture] = c.add(std::move(copy));
}

// Operands that must lie in memory for the call: the plan makes views, so the tensors that they view.
Result<std::vector<TensorId>> called_operands(const Context& c, NodeId id, const std::vector<NodeId>& but) {
  std::vector<TensorId> operands;
  bool known = true, is_new = true;
  ir::for_each_input(c.graph, c.graph.node(id), [&](NodeId input) {
    if (std::ranges::find(but, input) != but.end() || c.subject.types[0][input].kind == ValueType::Kind::Constant)
      return;
    NodeId base = input;
    while (!c.given[base] && shares_memory(c.subject, base)) base = c.graph.args(base)[0].node;
    if (c.tensor_of[base] && std::ranges::find(operands, *c.tensor_of[base]) == operands.end())
      operands.push_back(*c.tensor_of[base]);
    known = known && c.tensor_of[base];
    // By its own name: what it was before another operator overwrote it, or after.
    is_new = is_new && known &&
             (c.given[base] ? c.given[base] == c.tensor_of[base] : c.tensors[*c.tensor_of[base]].node == base);
  });
  if (!known) return unsupported("what it takes is no tensor of known type");
  if (!is_new) return unsupported("what it takes was overwritten under another name");
  return operands;
}

// By the operands where they tell; else the plan asks what PyTorch gave.
std::vector<SizeId> called_shape(Context& c, const Arguments& call, const std::string& made) {
  const std::string_view name = call.name();
  const std::vector<ValueType> types = c.subject.types_of(call.id());
  const size_t rank = types[0].tensor.shape.size();
  std::vector<std::optional<SizeId>> shape(rank);
  const auto shape_of = [&](std::string_view parameter) {
    const Result<TensorId> of = c.tensor(call.at(parameter));
    return of ? c.tensors[*of].shape : std::vector<SizeId>();
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
    const ByExample values = sizes_along(types, dim);
    // A size that the operands tell is the same in each graph, unless they are broadcast.
    if (shape[dim] && c.sizes.values(*shape[dim]) == values)
      all.push_back(*shape[dim]);
    else
      all.push_back(c.sizes.dimension(values, fmt::format("{}.shape[{}]", made, dim), dimension_name(rank, dim)));
  }
  return all;
}

}  // namespace

}  // namespace passnet::author::op

namespace passnet::author {

Result<void> called(Context& c, const Arguments& call, const std::string& why) {
  using namespace op;  // NOLINT: what a call is made of
  const NodeId id = call.id();
  const std::string_view name = call.name();
  const bool is_known = kCalled.find(fmt::format(" {} ", name)) != std::string_view::npos ||
                        (name == "einsum" && is_product(c.graph, call));
  if (!is_known || ir::overwrites_input(c.graph, id)) return unsupported(why);
  if (name == "scaled_dot_product_attention" && !call.hold("dropout_p=0.0"))
    return unsupported("attention that drops elements at random");
  const bool without_bias = c.products.without_bias.contains(id);
  const std::optional<NodeId> bias = without_bias ? std::optional(call.at("bias").node) : std::nullopt;
  PASSNET_TRY(Tensor result, c.result_of(call.id()));
  if (c.elements[result.element].compute != Compute::Float) return unsupported(why);
  std::vector<NodeId> apart;  // what it is not given
  if (bias) apart.push_back(*bias);
  result.channels_last = c.products.channels_last.contains(id);
  if (result.channels_last) apart.push_back(call.at("input").node);
  PASSNET_TRY(result.takes, called_operands(c, id, apart));
  if (without_bias) result.name += "_without_bias";
  if (result.channels_last) result.name += "_channels_last";
  result.shape = called_shape(c, call, result.name);
  result.call = Call{id, without_bias, c.products.measured.contains(id), why};
  if (result.channels_last) {
    PASSNET_TRY(const TensorId input, c.tensor(call.at("input")));
    result.takes.push_back(with_channels_last(c, input));
    result.call->input = c.tensors[result.takes.back()].name;
  }
  const Tensor shaped = result;
  const TensorId made = c.add(std::move(result));
  PASSNET_TRY_VOID(c.lay_out(made));
  c.tensor_of[id] = made;
  if (!bias && shaped.channels_last) {
    // The layout that PyTorch gives it, where somebody needs that.
    Tensor in_order = same_elements(c, made, call.value_name());
    in_order.node = id;
    c.tensor_of[id] = c.add(std::move(in_order));
  }
  if (!bias) return {};
  // PyTorch rounds what the convolution gives, and adds the bias to it.
  PASSNET_TRY(Tensor with_bias, c.result_of(call.id()));
  with_bias.shape = shaped.shape;
  const TensorId added = *c.tensor_of[*bias];
  const size_t dim = with_bias.shape.size() - (c.tensors[*c.tensor(call.at("weight"))].shape.size() - 1);
  return c.define(std::move(with_bias), {made, added}, 1, [=](Scope& scope, const Place& place) {
    return scope.exprs.apply(A + B, {scope.element(made, place), scope.element(added, {place[dim]})});
  });
}

}  // namespace passnet::author
