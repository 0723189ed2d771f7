#include "runtime/lower/lower.h"

#include <fmt/format.h>

#include <unordered_map>

#include "base/strings.h"
#include "ir/ops/table.h"
#include "runtime/lower/refused_targets.h"
#include "runtime/lower/targets.h"

namespace passnet::runtime {

namespace {

const Rule* find_rule(const std::string& target) {
  static const auto kRules = [] {
    std::unordered_map<std::string_view, const Rule*> rules;
    for (const auto list : {functional_rules(), loss_rules(), pool_rules(), torch_rules(), method_rules(),
                            factory_rules(), tensor_rules(), symbolic_rules(), autocast_rules(), vmap_rules()}) {
      for (const Rule& rule : list) rules.emplace(rule.target, &rule);
    }
    return rules;
  }();
  const auto found = kRules.find(target);
  return found == kRules.end() ? nullptr : found->second;
}

/// Modules whose functions are rules or operators under another prefix.
struct Module {
  std::string_view prefix;
  std::string_view rules;      // prefix of the rules' targets
  std::string_view operators;  // prefix of the ATen operators' names
};
constexpr Module kModules[] = {
    {"torch.nn.functional.", "F.", ""},
    {"torch._C._nn.", "", ""},
    {"torch.functional.", "torch.functional.", ""},
    {"torch._VF.", "torch.", ""},
    {"torch._C._VariableFunctions.", "torch.", ""},
    {"torch._C._linalg.", "", ""},
    {"torch._C._fft.", "", ""},
    {"torch._C._special.", "", ""},
    {"torch.linalg.", "", "linalg_"},
    {"torch.fft.", "", "fft_"},
    {"torch.special.", "", "special_"},
};

/// ATen's name for what Python calls otherwise.
std::string operator_name(std::string name) {
  static const std::unordered_map<std::string, std::string> kNames{{"__eq__", "eq"},
                                                                   {"__ne__", "ne"},
                                                                   {"__lt__", "lt"},
                                                                   {"__le__", "le"},
                                                                   {"__gt__", "gt"},
                                                                   {"__ge__", "ge"},
                                                                   {"__add__", "add"},
                                                                   {"__sub__", "sub"},
                                                                   {"__mul__", "mul"},
                                                                   {"__div__", "div"},
                                                                   {"__truediv__", "div"},
                                                                   {"__radd__", "add"},
                                                                   {"__rmul__", "mul"},
                                                                   {"__rsub__", "rsub"},
                                                                   {"__neg__", "neg"},
                                                                   {"__pos__", "positive"},
                                                                   {"__abs__", "abs"},
                                                                   {"__invert__", "bitwise_not"},
                                                                   {"__matmul__", "matmul"},
                                                                   {"__pow__", "pow"},
                                                                   {"__mod__", "remainder"},
                                                                   {"__floordiv__", "floor_divide"},
                                                                   {"__rand__", "__and__"},
                                                                   {"__ror__", "__or__"},
                                                                   {"__rxor__", "__xor__"},
                                                                   {"__iadd__", "add_"},
                                                                   {"__isub__", "sub_"},
                                                                   {"__imul__", "mul_"},
                                                                   {"__idiv__", "div_"},
                                                                   {"__itruediv__", "div_"},
                                                                   {"__ifloordiv__", "floor_divide_"},
                                                                   {"__imod__", "remainder_"},
                                                                   {"__ipow__", "pow_"},
                                                                   {"concatenate", "concat"},
                                                                   {"_segment_reduce", "segment_reduce"},
                                                                   {"to_sparse_coo", "to_sparse"}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::move(name) : found->second;
}

[[noreturn]] void refuse_unknown(ir::NodeKind kind, std::string_view target) {
  const bool method = kind == ir::NodeKind::CallMethod;
  if (const std::string_view reason = refusal_reason(method ? fmt::format("Tensor.{}", target) : std::string(target));
      !reason.empty())
    throw LoweringError{
        unsupported(fmt::format("{} '{}' is not run: {}", method ? "method" : "operator", target, reason))};
  std::string_view near = ir::nearest_target(kind, target);
  std::string hint;
  if (near == target)
    hint = "PassNet knows its signature, but cannot run it yet";
  else if (!near.empty())
    hint = fmt::format("did you mean '{}'?", near);
  throw LoweringError{
      unsupported(fmt::format("unknown {} '{}'", method ? "method" : "operator", target)).with_hint(std::move(hint))};
}

Operand apply_rule(Builder& builder, const Rule& rule, std::string_view target, const std::vector<Operand>& args,
                   const std::vector<NamedOperand>& keywords) {
  return rule.lower(builder, Bound(target, rule.signature, args, keywords));
}

/// What a target stands for: a rule, or an ATen operator, of one overload when the target names it.
struct Meaning {
  const Rule* rule = nullptr;
  std::string name = {};
  std::optional<std::string> overload = {};
};

/// Throws LoweringError for a function that there is not.
Meaning find_function(std::string_view target) {
  if (const Rule* rule = find_rule(std::string(target))) return {rule};
  if (target.starts_with("torch.ops.aten.")) {
    std::string name(target.substr(15));
    std::optional<std::string> overload;
    if (const size_t dot = name.find('.'); dot != std::string::npos) {
      overload = name.substr(dot + 1);
      name.resize(dot);
      if (*overload == "default") overload = "";
    }
    if (overloads(name).empty()) refuse_unknown(ir::NodeKind::CallFunction, target);
    return {nullptr, std::move(name), std::move(overload)};
  }
  std::string name;
  for (const Module& module : kModules) {
    if (!target.starts_with(module.prefix)) continue;
    const std::string rest(target.substr(module.prefix.size()));
    if (!module.rules.empty()) {
      if (const Rule* rule = find_rule(std::string(module.rules) + rest)) return {rule};
    }
    name = std::string(module.operators) + rest;
    break;
  }
  if (name.empty() && target.starts_with("torch.")) {
    name = target.substr(6);
    // torch.norm is torch.functional.norm.
    if (const Rule* rule = find_rule("torch.functional." + name)) return {rule};
  }
  name = operator_name(name);
  if (name.empty() || name.find('.') != std::string::npos || overloads(name).empty())
    refuse_unknown(ir::NodeKind::CallFunction, target);
  return {nullptr, std::move(name)};
}

/// Throws LoweringError for a method that tensors have not.
Meaning find_method(std::string_view target) {
  if (const Rule* rule = find_rule("Tensor." + std::string(target))) return {rule};
  std::string name = operator_name(std::string(target));
  if (overloads(name).empty()) refuse_unknown(ir::NodeKind::CallMethod, target);
  return {nullptr, std::move(name)};
}

Operand call_function(Builder& builder, std::string_view target, const std::vector<Operand>& args,
                      const std::vector<NamedOperand>& keywords) {
  const Meaning meaning = find_function(target);
  if (meaning.rule != nullptr) return apply_rule(builder, *meaning.rule, target, args, keywords);
  return builder.call(meaning.name, args, keywords, false, meaning.overload);
}

Operand call_method(Builder& builder, std::string_view target, const std::vector<Operand>& args,
                    const std::vector<NamedOperand>& keywords) {
  if (args.empty()) refuse(fmt::format("method '{}' without an object", target));
  if (args[0].is_number() && target == "item") return args[0];
  if (args[0].is_sequence() && target == "numel") return product_of(builder, args[0]);
  if (args[0].kind != Kind::Tensor)
    refuse(fmt::format("method '{}' of {}, expected a tensor", target, to_string(args[0].kind)));
  const Meaning meaning = find_method(target);
  if (meaning.rule != nullptr) return apply_rule(builder, *meaning.rule, target, args, keywords);
  return builder.call(meaning.name, args, keywords, true);
}

}  // namespace

Operand lower_call(Builder& builder, ir::NodeKind kind, std::string_view target, const std::vector<Operand>& args,
                   const std::vector<NamedOperand>& keywords) {
  switch (kind) {
    case ir::NodeKind::CallFunction: return call_function(builder, target, args, keywords);
    case ir::NodeKind::CallMethod: return call_method(builder, target, args, keywords);
    case ir::NodeKind::Operator: return lower_operator(builder, target, args);
    case ir::NodeKind::Attribute: return lower_attribute(builder, target, args.at(0));
    default: refuse("a node that is not a call");
  }
}

Result<void> check_target(bool method, const std::string& target) {
  try {
    (void)(method ? find_method(target) : find_function(target));
    return {};
  } catch (const LoweringError& refused) {
    return refused.error;
  }
}

}  // namespace passnet::runtime
