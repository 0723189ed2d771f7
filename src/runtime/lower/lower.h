// What each target of a graph means in terms of ATen operators; docs/operators.md tells the rules. lower.cpp finds the
// meaning of a target. What a call of other operators is stands in the operator table (ir/ops/table_rows.h); what takes
// more than that is a function here, by file:
//   functional, loss, pool, interpolate, attention: torch.nn.functional
//   torch, tensor, symbolic, autocast, vmap: other functions
//   method, operator, index: methods and attributes, Python's operators, x[…]
// Everything else is an ATen operator of the same name, or refused (ir/ops/refused_targets.h). Internal to runtime/.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/ops/table.h"
#include "runtime/plan/lowerer.h"

namespace passnet::runtime {

/// The arguments of a call matched to the parameters of a Python signature.
class Bound {
 public:
  /// function: for messages; what is given must outlive this. Throws LoweringError when the arguments do not fit.
  Bound(std::string_view function, std::span<const ir::Slot> signature, const std::vector<Operand>& args,
        const std::vector<NamedOperand>& keywords);

  /// REQUIRES: the signature has it. A variadic one is a Tuple.
  const Operand& operator[](std::string_view name) const;
  /// A literal True or False. Throws LoweringError when it is computed in the graph.
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  /// Of a variadic parameter: its values given one by one, or as one list.
  const Operand& list(std::string_view name) const;
  /// The signature has it.
  bool has(std::string_view name) const { return find(name) < values_.size(); }
  bool given(std::string_view name) const { return (*this)[name].kind != Kind::None; }
  /// By parameter, in the order of the signature.
  const std::vector<Operand>& values() const { return values_; }
  /// The last part of what is called: "max_pool2d".
  std::string_view name() const { return function_.substr(function_.rfind('.') + 1); }

 private:
  size_t find(std::string_view name) const;

  std::string_view function_;
  std::span<const ir::Slot> signature_;
  std::vector<Operand> values_;
};

/// A literal of a signature as an operand.
Operand operand_of(const ir::Literal& literal);

/// What a call becomes: by a function, or a call of operators as text (the column `lowering` of ir/ops/table_rows.h).
struct Lowering {
  using Function = Operand (*)(Builder&, const Bound&);
  Function function = nullptr;
  std::string_view call = {};

  constexpr Lowering() = default;
  constexpr Lowering(const char* text) : call(text) {}
  template <std::convertible_to<Function> F>
  constexpr Lowering(F lower) : function(lower) {}
};

/// Calls a function with the values of all parameters, at each run.
template <HostFunction Function, Kind Result>
Operand host_call(Builder& builder, const Bound& args) {
  return builder.host(Function, Result, args.values());
}

/// The arguments are read by the target's row in ir/ops/python_rows.h; where it has none, by that of the operator table.
struct Rule {
  std::string_view targets;  // separated by blanks: "F.softmax", "torch.tensor", "Tensor.to"
  Lowering lowering;
};
std::span<const Rule> functional_rules();
std::span<const Rule> loss_rules();
std::span<const Rule> pool_rules();
std::span<const Rule> torch_rules();
std::span<const Rule> method_rules();
std::span<const Rule> factory_rules();
std::span<const Rule> tensor_rules();
std::span<const Rule> symbolic_rules();
std::span<const Rule> autocast_rules();
std::span<const Rule> vmap_rules();
/// Leaves every torch.vmap that an interrupted call is still inside of.
void leave_vmap();
/// Leaves every torch.autocast that a call has entered and not left.
void leave_autocast();
Operand lower_interpolate(Builder& builder, const Bound& args);
Operand lower_multi_head_attention(Builder& builder, const Bound& args);

/// The number that ATen's losses take for `reduction`, or for the two flags that were its form before.
Operand reduction(const Bound& args);

/// What a target stands for.
struct Meaning {
  std::span<const ir::Slot> signature;  // of a rule, or of a row with a lowering
  Lowering lowering;                    // neither function nor text: the operator `name`
  bool in_place = false;                // of a lowering as text: the spelling says so
  std::string name = {};
  std::optional<std::string> overload = {};
};

/// kind: CallFunction or CallMethod. Throws LoweringError for what is not run, or not known.
Meaning resolve(ir::NodeKind kind, std::string_view target, const ir::OpTable& table = ir::op_table());

/// target: for messages. Throws LoweringError or c10::Error.
Operand apply(Builder& builder, const Meaning& meaning, ir::NodeKind kind, std::string_view target,
              const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords);

/// Lowers a call. kind: CallFunction, CallMethod, Operator or Attribute. Throws LoweringError or c10::Error.
Operand lower_call(Builder& builder, ir::NodeKind kind, std::string_view target, const std::vector<Operand>& args,
                   const std::vector<NamedOperand>& keywords);

/// The three above, for plans.
inline constexpr Lowerer kLowerer{lower_call, leave_autocast, leave_vmap};

Operand lower_operator(Builder& builder, std::string_view op, const std::vector<Operand>& args);
Operand lower_attribute(Builder& builder, std::string_view name, const Operand& object);
Operand lower_getitem(Builder& builder, const Operand& object, const Operand& index);
Operand lower_setitem(Builder& builder, const Operand& object, const Operand& index, const Operand& value);

/// Arithmetic on Python numbers and comparisons of them. Throws LoweringError for an operator numbers do not
/// have.
Operand lower_number_operator(Builder& builder, std::string_view op, const std::vector<Operand>& args);

/// tensor.to(dtype): the dtype is a literal or known at run time.
Operand to_dtype(Builder& builder, const Operand& tensor, const Operand& dtype);

/// x.shape: a list of ints, made at run time. sizes_of(x)[dim].
Operand shape_of(Builder& builder, const Operand& tensor);
Operand size_of(Builder& builder, const Operand& tensor, int64_t dim);
/// The product of a list of ints: torch.Size.numel.
Operand product_of(Builder& builder, const Operand& list);

}  // namespace passnet::runtime
