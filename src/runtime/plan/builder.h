// Builds the steps of a plan: the lowering rules call operators on operands, the builder chooses overloads,
// converts arguments and hands out slots. Internal to runtime/ (includes torch).
#pragma once

#include <memory>
#include <vector>

#include "runtime/plan/operand.h"
#include "runtime/plan/step.h"

namespace passnet::runtime {

class Builder {
 public:
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<c10::IValue> initial;  // slots before the first call: constants; None elsewhere
  std::vector<bool> persistent;      // slots that are never freed: inputs and constants
  ir::NodeId node = ir::kNoNode;     // graph node that is being lowered
  size_t operator_calls = 0;

  int32_t new_slot(bool keep = false);
  /// Results of a call, a tensor each; `slots` gets their slots.
  Operand new_results(size_t count, std::vector<int32_t>& slots);
  Operand constant_tensor(at::Tensor tensor);

  /// Calls aten::NAME on Python arguments. Returns one operand, or a Tuple for several results; an in-place
  /// operator returns the operand it wrote. Throws LoweringError when nothing fits.
  Operand call(std::string_view name, const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords = {},
               const CallForm& form = {});
  /// Calls `fn` on boxed arguments at each run; folds it now when all are literals.
  Operand host(HostFunction fn, Kind result, const std::vector<Operand>& args);
  void add(std::unique_ptr<Step> step, std::vector<int32_t> reads, std::vector<int32_t> writes);

  /// The operand as an argument of that type. REQUIRES: the overload's cost function accepted it.
  ArgSource source(const Operand& operand, const Parameter& parameter);
  /// The operand boxed as it is: numbers, tensors, lists of ints or of tensors.
  ArgSource source(const Operand& operand);

 private:
  Operand emit(const Binding& binding);
  ArgSource list_source(const Operand& operand, const Parameter& parameter);
  int32_t tensor_slot(const Operand& operand);
};

/// The slots of a call's arguments behind the first. target: what is called. Throws LoweringError: one is no tensor.
std::vector<int32_t> tensor_inputs(std::string_view target, const std::vector<Operand>& args);

/// Boxed values for literal elements, by the schema's element type.
c10::IValue literal_list(const std::vector<Operand>& elements, Type type);

}  // namespace passnet::runtime
