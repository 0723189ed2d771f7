// The flat plan of a graph: steps over slots, nothing looked up at run time. Internal to runtime/ (includes
// torch).
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "runtime/plan/lowerer.h"

namespace passnet::runtime {

class FusedLibrary;
class Package;

class Plan {
 public:
  /// Resolves every target of `graph` and lays out the steps. fused: serves `passnet.fused` calls; package: serves
  /// `passnet.package` calls; both may be null, and outlive the plan.
  /// Errors: BadInput or Unsupported at the node's place in model.py.
  static Result<Plan> build(const ir::Graph& graph, const Lowerer& lowerer, FusedLibrary* fused,
                            Package* package = nullptr);

  /// A call launches kernels of passes, and beside these only makes views.
  bool launches_only() const;
  size_t operator_calls() const { return operator_calls_; }
  const std::vector<std::string>& input_names() const { return input_names_; }
  /// The tensor that the i-th argument of forward reads from now on.
  void set_input(size_t index, at::Tensor tensor) { slots_[input_slots_[index]] = std::move(tensor); }
  const at::Tensor& input(size_t index) const { return slots_[input_slots_[index]].toTensor(); }

  /// One call of forward. REQUIRES: every input is set. Errors: BadInput at the node whose operator refused,
  /// with PyTorch's own message. keep: values stay until release(), also those that nobody reads any more.
  Result<void> run(bool keep = false);
  /// What forward returned; a tuple's elements one by one. Valid after a run until release().
  std::vector<c10::IValue> outputs() const;
  /// Frees outputs.
  void release();

  /// The same call; `visit` sees the value of every node but the output as soon as it is there.
  using NodeVisitor = std::function<void(const ir::Node&, const c10::IValue&)>;
  Result<void> run_visiting(const NodeVisitor& visit);

 private:
  /// The same steps on types alone (infer/infer.h).
  friend void infer_types(Plan& plan,
                          const std::function<void(const ir::Node&, const c10::IValue*, const std::string&)>& visit);
  void abandon();
  /// The exception being handled, as an error at the step's node. Rethrows what is no refusal of PyTorch's.
  Error refusal(const Step& step) const;
  c10::IValue value_of(const Operand& operand) const;
  /// Element i + 1: the nodes whose values are there after step i and not before; 0: before the first step.
  std::vector<std::vector<ir::NodeId>> nodes_by_step() const;

  ir::Graph graph_;
  Lowerer lowerer_{};
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
