#include "author/define/definitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "author/define/operators.h"
#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::ArgKind;
using ir::DType;
using ir::NodeId;

Result<void> Definitions::input(NodeId id) {
  const std::vector<ValueType> types = c_.subject.types_of(id);
  const std::string name(c_.graph.node(id).name);
  if (types[0].kind == ValueType::Kind::Constant) {
    std::vector<DType> dtypes;
    for (const ValueType& type : types) dtypes.push_back(type.dtype);
    if (types[0].constant == ArgKind::DType) c_.dtype_inputs.emplace(dtypes, name);
    return {};
  }
  std::vector<DType> dtypes;
  for (const ValueType& type : types) dtypes.push_back(type.tensor.dtype);
  c_.dtype_inputs.emplace(dtypes, name + ".dtype");
  PASSNET_TRY(Tensor made, c_.result_of(id));
  made.is_given = true;
  made.node.reset();
  const size_t rank = types[0].tensor.shape.size();
  for (size_t dim = 0; dim < rank; ++dim) {
    const ByExample values = sizes_along(types, dim);
    made.shape.push_back(c_.sizes.dimension(values, fmt::format("{}.shape[{}]", name, dim), dimension_name(rank, dim)));
  }
  if (std::ranges::all_of(types, [](const ValueType& type) { return type.tensor.is_contiguous(); })) {
    made.strides = c_.sizes.contiguous_strides(made.shape);
  } else {
    for (size_t dim = 0; dim < rank; ++dim) {
      ByExample values;
      for (const ValueType& type : types) values.push_back(type.tensor.strides[dim]);
      made.strides.push_back(
          c_.sizes.dimension(values, fmt::format("{}.stride({})", name, dim), fmt::format("{}_step", name)));
    }
  }
  c_.tensor_of[id] = c_.given[id] = c_.add(std::move(made));
  return {};
}

Result<void> Definitions::overwrite(TensorId value, TensorId input) {
  if (c_.tensors[value].shape != c_.tensors[input].shape || c_.tensors[value].element != c_.tensors[input].element)
    return unsupported("it overwrites a part of an input of the graph");
  c_.tensors[value].overwrites = input;
  c_.tensors[value].name = c_.tensors[input].name;
  return {};
}

Result<void> Definitions::node(NodeId id) {
  PASSNET_TRY_VOID(define_call(id));
  // Whoever takes what it overwrites later on takes the new value.
  for (NodeId old = id; (old = ir::overwritten_input(c_.graph, old)) != ir::kNoNode;) {
    if (c_.tensor_of[old]) c_.tensor_of[old] = c_.tensor_of[id];
  }
  return {};
}

Result<void> Definitions::define_call(NodeId id) {
  Result<ir::CanonicalCall> found = ir::canonicalize(c_.graph, id);
  if (!found) return unsupported(found.error().message);
  const std::vector<ValueType> types = c_.subject.types_of(id);
  for (const ValueType& type : types) {
    if (type.kind == ValueType::Kind::List) continue;
    if (!type.is_tensor()) return unsupported("what it gives is no tensor of known type");
    if (type.tensor.shape.size() != types[0].tensor.shape.size())
      return unsupported("its rank differs between the graphs");
  }
  const Arguments call(c_.graph, id, *found);
  if (c_.products.all_are_calls && called(c_, call, "a product, which this form leaves to PyTorch")) return {};
  Result<void> defined = define_operator(c_, call);
  if (defined || !c_.products.calls) return defined;
  return called(c_, call, defined.error().message);
}

}  // namespace passnet::author
