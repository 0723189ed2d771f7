// What each target of a graph means in terms of ATen operators; docs/operators.md tells the rules.
// lower.cpp finds the rule for a target. The rules, by file:
//   functional, loss, pool, interpolate, attention: torch.nn.functional
//   torch, tensor, symbolic, autocast, vmap: other functions
//   method, operator, index: methods and attributes, Python's operators, x[…]
// Everything else is an ATen operator of the same name, or refused (refused_targets.h). Internal to runtime/.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "runtime/plan/lowering.h"

namespace passnet::runtime {

/// The arguments of a call matched to the parameters of a Python signature.
class Bound {
 public:
  /// signature: "input, p=0.5, training=True, *rest" (rest takes what is left of the positional arguments).
  /// Throws LoweringError when the arguments do not fit.
  Bound(std::string_view function, std::string_view signature, const std::vector<Operand>& args,
        const std::vector<NamedOperand>& keywords);

  const Operand& operator[](std::string_view name) const;
  /// A literal True or False. Throws LoweringError when it is computed in the graph.
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  /// The signature has it.
  bool has(std::string_view name) const { return values_.contains(name); }
  bool given(std::string_view name) const { return (*this)[name].kind != Kind::None; }

 private:
  std::string_view function_;
  std::map<std::string, Operand, std::less<>> values_;
};

struct Rule {
  std::string_view target;     // "F.softmax", "torch.tensor", "Tensor.to"
  std::string_view signature;  // of the Python function
  Operand (*lower)(Builder&, const Bound&);
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

/// `name(input, …)` or, when `inplace` is True, `name_(input, …)`.
Operand call_in_place_or_not(Builder& builder, std::string_view name, const Bound& args, std::vector<Operand> rest);

/// Lowers a call. kind: CallFunction, CallMethod, Operator or Attribute. Throws LoweringError or c10::Error.
Operand lower_call(Builder& builder, ir::NodeKind kind, std::string_view target, const std::vector<Operand>& args,
                   const std::vector<NamedOperand>& keywords);

/// The three above, for plans.
inline constexpr Lowering kLowering{lower_call, leave_autocast, leave_vmap};

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
