// Defines the values of a graph, operator by operator in its order.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "author/define/context.h"

namespace passnet::author {

class Definitions {
 public:
  /// subject: its graph's pool may grow; must outlive this.
  explicit Definitions(Subject& subject, ProductOptions products = {}) : c_(subject, std::move(products)) {}

  /// Makes a value that the plan is given. Errors: Unsupported: it is no tensor, or of a dtype that no kernel takes.
  Result<void> input(ir::NodeId id);
  /// Defines what the node gives. Its inputs have been defined. Errors: Unsupported, with why.
  Result<void> node(ir::NodeId id);

  /// Decides where a value lies that is stored: as PyTorch has it. Errors: Unsupported: with holes, or otherwise in each graph.
  Result<void> lay_out(TensorId id) { return c_.lay_out(id); }
  /// Without gaps, the last dimension fastest: of a value that only kernels look at.
  void lay_out_in_order(TensorId id) { c_.lay_out_in_order(id); }

  /// Makes a value that is to be stored lie where an input of the pass lies, which it replaces. Errors: Unsupported: they have
  /// different shapes.
  Result<void> overwrite(TensorId value, TensorId input);

  /// Makes a value that is to be stored lie where another such value lies, in graphs where both have one type.
  void share(TensorId value, TensorId with) { c_.tensors[value].shares = with; }

  /// Returns the node's value now, after all that overwrites it.
  std::optional<TensorId> tensor_of(ir::NodeId id) const { return c_.tensor_of[id]; }
  /// Returns the tensor that input() made.
  std::optional<TensorId> given(ir::NodeId id) const { return c_.given[id]; }
  const std::vector<Tensor>& tensors() const { return c_.tensors; }
  const std::vector<Element>& elements() const { return c_.elements; }
  SizeTable& sizes() { return c_.sizes; }
  ExprTable& exprs() { return c_.exprs; }
  const ExprTable& exprs() const { return c_.exprs; }

 private:
  Result<void> define_call(ir::NodeId id);

  Context c_;
};

}  // namespace passnet::author
