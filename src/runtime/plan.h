// The flat plan of a graph: steps over slots, nothing looked up at run time. Internal to runtime/ (includes
// torch).
#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "runtime/builder.h"

namespace passnet::runtime {

class FusedLibrary;

class Plan {
 public:
  /// Resolves every target of `graph` and lays out the steps. `fused` serves `passnet.fused` calls; may be
  /// null. Errors: BadInput or Unsupported at the node's place in model.py.
  static Result<Plan> build(const ir::Graph& graph, FusedLibrary* fused);

  size_t operator_calls() const { return operator_calls_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  /// The tensor that the i-th argument of forward reads from now on.
  void set_input(size_t index, at::Tensor tensor) { slots_[input_slots_[index]] = std::move(tensor); }
  const at::Tensor& input(size_t index) const { return slots_[input_slots_[index]].toTensor(); }

  /// One call of forward. keep_all: nothing is freed, so that every node's value can be asked for.
  /// REQUIRES: every input is set. Errors: BadInput at the node whose operator refused, with PyTorch's own
  /// message.
  Result<void> run(bool keep_all = false);
  /// What forward returned; a tuple's elements one by one. Valid after a run until release().
  std::vector<c10::IValue> outputs() const;
  /// Frees outputs and, after a run with keep_all, all other values.
  void release();

  struct NodeValue {
    std::string_view name;
    c10::IValue value;
  };
  /// Values of all nodes, by name. REQUIRES: the last run was one with keep_all.
  std::vector<NodeValue> node_values() const;

 private:
  void abandon();
  Error step_error(const Step& step, std::string message) const;
  c10::IValue value_of(const Operand& operand) const;

  ir::Graph graph_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<c10::IValue> slots_;
  std::vector<int32_t> input_slots_;
  std::vector<int32_t> transient_slots_;  // all but inputs and constants
  std::vector<std::string> input_names_;
  std::vector<Operand> node_operands_;  // by node id
  Operand result_;
  size_t operator_calls_ = 0;
};

}  // namespace passnet::runtime
