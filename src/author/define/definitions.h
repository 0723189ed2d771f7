// Defines the values of a graph, operator by operator in its order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "author/define/arguments.h"
#include "author/define/tensors.h"
#include "author/subject/subject.h"
#include "base/result.h"

namespace passnet::author {

class Definitions {
 public:
  /// subject: its graph's pool may grow; must outlive this.
  explicit Definitions(Subject& subject);
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;

  /// Makes a value that the plan is given. Errors: Unsupported: it is no tensor, or of a dtype that no kernel takes.
  Result<void> input(ir::NodeId id);
  /// Defines what the node gives. Its inputs have been defined. Errors: Unsupported, with why.
  Result<void> node(ir::NodeId id);

  /// Decides where a value lies that is stored: as PyTorch has it. Errors: Unsupported: with holes, or otherwise in each graph.
  Result<void> lay_out(TensorId id);
  /// Without gaps, the last dimension fastest: of a value that only kernels look at.
  void lay_out_in_order(TensorId id);

  /// Makes a value that is to be stored lie where an input of the pass lies, which it replaces. Errors: Unsupported: they have
  /// different shapes.
  Result<void> overwrite(TensorId value, TensorId input);

  /// What the node's value is now, after all that overwrites it.
  std::optional<TensorId> tensor_of(ir::NodeId id) const { return tensor_of_[id]; }
  /// What input() made.
  std::optional<TensorId> given(ir::NodeId id) const { return given_[id]; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Element>& elements() const { return elements_; }
  SizeTable& sizes() { return sizes_; }
  ExprTable& exprs() { return exprs_; }

 private:
  using Place = std::vector<IndexId>;
  using At = std::function<ExprId(Scope&, const Place&)>;

  // definitions.cpp
  Result<ElementId> element_of(const std::vector<ir::DType>& by_example);
  Result<Tensor> result_of(const std::string& name, const std::vector<ValueType>& types);
  Result<Tensor> result_of(ir::NodeId id);
  Result<void> define(ir::NodeId id, Tensor tensor, std::vector<TensorId> takes, int work, At at);
  TensorId add(Tensor tensor);
  /// A value that PyTorch does not store, of that shape: a mean, a scale.
  TensorId hidden(const std::string& name, std::vector<SizeId> shape, std::vector<TensorId> takes, int work, At at);
  Result<TensorId> tensor(const ir::Arg& arg) const;
  std::optional<TensorId> optional_tensor(const ir::Arg& arg) const;
  /// What an operator computes with: an element of a tensor at a place of the result, or a number.
  struct Operand {
    std::optional<TensorId> tensor;
    ExprId number = 0;
  };
  Result<Operand> operand(const ir::Arg& arg, Compute compute);
  ExprId operand_at(Scope& scope, const Operand& operand, const Place& place, Compute compute) const;
  /// The place in a tensor that is broadcast to where `place` lies.
  Place broadcast(Scope& scope, TensorId tensor, const Place& place) const;
  Result<SizeId> size_of(const std::vector<ValueType>& types, size_t dim) const;

  Result<void> define_call(ir::NodeId id);
  Result<bool> pointwise(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> batch_norm(ir::NodeId id, const Arguments& call);
  Result<void> glu(ir::NodeId id, const Arguments& call);

  Result<bool> view(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> define_view(ir::NodeId id, TensorId of, std::function<Place(Scope&, const Place&)> place);
  Result<void> reshape(ir::NodeId id, TensorId of, const Arguments& call, std::string_view name);
  Result<void> index(ir::NodeId id, const Arguments& call);
  Result<void> part(ir::NodeId id, ir::NodeId whole, const Arguments& call);
  Result<void> roll(ir::NodeId id, const Arguments& call);
  Result<void> slice(ir::NodeId id, TensorId of, int64_t dim, IndexId start);

  Result<bool> fold(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> reduction(ir::NodeId id, const Arguments& call, std::string_view name);
  TensorId folded(const std::string& name, TensorId of, const std::vector<int64_t>& dims, Fold fold, int work,
                  std::function<ExprId(Scope&, ExprId element, const Place&)> value);
  ExprId count(const std::vector<SizeId>& extents, Compute compute);
  Result<void> softmax(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> layer_norm(ir::NodeId id, const Arguments& call, bool rms);
  Result<void> group_norm(ir::NodeId id, const Arguments& call);
  Result<void> normalize(ir::NodeId id, const Arguments& call);
  Result<void> adaptive_mean(ir::NodeId id, const Arguments& call);

  Result<bool> creation(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<Tensor> sized_result(ir::NodeId id);
  Result<void> filled(ir::NodeId id, const ir::Arg& number);
  Result<void> range(ir::NodeId id, const Arguments& call);
  Result<void> repeat(ir::NodeId id, const Arguments& call, std::string_view parameter);
  Result<void> repeat_interleave(ir::NodeId id, const Arguments& call);

  Result<bool> window(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> pool(ir::NodeId id, const Arguments& call, bool largest);
  Result<SizeId> pooled_size(ir::NodeId id, size_t dim, SizeId length, int64_t reach, int64_t step, int64_t padding);
  Result<void> interpolate(ir::NodeId id, const Arguments& call);

  Result<bool> gather(ir::NodeId id, const Arguments& call, std::string_view name);
  Result<void> concatenate(ir::NodeId id, const Arguments& call, bool stack);
  Result<void> pad(ir::NodeId id, const Arguments& call);
  Result<void> look_up(ir::NodeId id, TensorId table, TensorId index, int64_t dim);

  Subject& subject_;
  ir::Graph& graph_;
  SizeTable sizes_;
  IndexTable indices_;
  ExprTable exprs_;
  std::vector<Element> elements_;
  std::vector<Tensor> tensors_;
  std::vector<std::optional<TensorId>> tensor_of_, given_;      // by node id
  std::map<std::vector<ir::DType>, std::string> dtype_inputs_;  // text of the plan
};

}  // namespace passnet::author
