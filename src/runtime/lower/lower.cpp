#include "runtime/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "base/text/strings.h"
#include "ir/ops/aten.h"
#include "ir/ops/binding.h"
#include "ir/ops/calls.h"
#include "runtime/lower/targets.h"

namespace passnet::runtime {

namespace {

constexpr std::string_view kAten = "torch.ops.aten.";

/// A rule with its signature.
struct ReadRule {
  std::span<const ir::Slot> signature;
  Lowering lowering;
};
using Rules = std::unordered_map<std::string, ReadRule>;

/// The ways to call what a target spells, methods as "Tensor.NAME".
const std::vector<ir::Binding>& bindings_of(const ir::OpTable& table, std::string_view target) {
  constexpr std::string_view kMethod = "Tensor.";
  return target.starts_with(kMethod) ? table.bindings(ir::NodeKind::CallMethod, target.substr(kMethod.size()))
                                     : table.bindings(ir::NodeKind::CallFunction, target);
}

void add_rule(Rules& rules, const Rule& rule, std::string_view target) {
  const std::string spelling =
      target.starts_with("F.") ? "torch.nn.functional." + std::string(target.substr(2)) : std::string(target);
  const auto* const own = ir::python_signature(spelling);
  const auto& rows = bindings_of(ir::op_table(), spelling);
  PASSNET_CHECK(own != nullptr || !rows.empty(), spelling + " has no signature");
  const ReadRule made{own != nullptr ? *own : rows.front().slots, rule.lowering};
  PASSNET_CHECK(rules.emplace(spelling, made).second, spelling + " has two rules");
}

Rules read_rules() {
  Rules rules;
  for (const auto list : {functional_rules(), loss_rules(), pool_rules(), torch_rules(), method_rules(),
                          factory_rules(), tensor_rules(), symbolic_rules(), autocast_rules(), vmap_rules()}) {
    for (const Rule& rule : list) {
      for (const std::string_view target : split(rule.targets, ' ')) add_rule(rules, rule, target);
    }
  }
  return rules;
}

/// What a spelling stands for by a rule or by a lowering of the table.
std::optional<Meaning> find_meaning(const std::string& spelling, const ir::OpTable& table) {
  static const Rules kRules = read_rules();
  if (const auto rule = kRules.find(spelling); rule != kRules.end())
    return Meaning{rule->second.signature, rule->second.lowering};
  if (spelling.starts_with(kAten)) return std::nullopt;  // means the operator itself
  for (const ir::Binding& row : bindings_of(table, spelling)) {
    if (row.lowering.empty()) continue;
    Meaning meaning{row.slots, {}, row.in_place};
    meaning.lowering.call = row.lowering;
    return meaning;
  }
  return std::nullopt;
}

/// ATen's name for what Python calls otherwise: by the operator table, where the arguments are the same.
std::string operator_name(std::string name, const std::vector<ir::Binding>& rows) {
  return overloads(name).empty() && !rows.empty() ? std::string(rows.front().op->signature.name) : name;
}

Meaning resolve_aten(std::string_view target) {
  std::string name(target.substr(kAten.size()));
  std::optional<std::string> overload;
  if (const size_t dot = name.find('.'); dot != std::string::npos) {
    overload = name.substr(dot + 1);
    name.resize(dot);
    if (*overload == "default") overload = "";
  }
  return {{}, {}, false, std::move(name), std::move(overload)};
}

/// Evaluates a lowering as text; `suffix` is for the name of the outermost operator.
Operand evaluate(Builder& builder, const Bound& args, std::string_view text, std::string_view suffix = {}) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) {
    if (text == "reduction") return reduction(args);
    return args.has(text) ? args[text] : operand_of(ir::parse_literal(text));
  }
  const std::string_view name = text.substr(0, open), inside = text.substr(open + 1, text.size() - open - 2);
  if (name == "bool") return Operand::of_bool(args.flag(inside));
  if (name == "list") return args.list(inside);
  std::vector<Operand> operands;
  for (const std::string_view part : ir::split_arguments(inside)) operands.push_back(evaluate(builder, args, part));
  return builder.call(std::string(name) + std::string(suffix), operands);
}

}  // namespace

Meaning resolve(ir::NodeKind kind, std::string_view target, const ir::OpTable& table) {
  const bool method = kind == ir::NodeKind::CallMethod;
  const std::string spelling = method ? "Tensor." + std::string(target) : std::string(target);
  if (auto meaning = find_meaning(spelling, table)) return *std::move(meaning);
  Meaning meaning;
  if (!method && target.starts_with(kAten)) {
    meaning = resolve_aten(target);
  } else {
    const ir::TorchModule* const module = method ? nullptr : ir::torch_module_of(target);
    if (module != nullptr && !module->same.empty()) {
      const auto rest = target.substr(module->prefix.size());
      if (auto same = find_meaning(fmt::format("{}{}", module->same, rest), table)) return *std::move(same);
    }
    meaning.name = operator_name(ir::aten_name(kind, target), bindings_of(table, spelling));
  }
  if (meaning.name.find('.') != std::string::npos || overloads(meaning.name).empty())
    throw LoweringError{ir::unknown_call(kind, target)};
  if (ir::aten_row(meaning.name) == nullptr)
    throw LoweringError{
        unsupported(
            fmt::format("operator '{}' is not run: PassNet's list of ATen's operators lacks it (unlisted)", target))
            .with_hint("scripts/aten_operators lists those of the PyTorch that is installed")};
  return meaning;
}

Operand apply(Builder& builder, const Meaning& meaning, ir::NodeKind kind, std::string_view target,
              const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords) {
  if (!meaning.name.empty())
    return builder.call(meaning.name, args, keywords,
                        {.method = kind == ir::NodeKind::CallMethod, .overload = meaning.overload});
  const Bound bound(target, meaning.signature, args, keywords);
  if (meaning.lowering.function != nullptr) return meaning.lowering.function(builder, bound);
  const bool in_place = meaning.in_place || (bound.has("inplace") && bound.flag("inplace"));
  return evaluate(builder, bound, meaning.lowering.call, in_place ? "_" : "");
}

Operand lower_call(Builder& builder, ir::NodeKind kind, std::string_view target, const std::vector<Operand>& args,
                   const std::vector<NamedOperand>& keywords) {
  switch (kind) {
    case ir::NodeKind::CallMethod:
      if (args.empty()) refuse(fmt::format("method '{}' without an object", target));
      if (args[0].is_number() && target == "item") return args[0];
      if (args[0].is_sequence() && target == "numel") return product_of(builder, args[0]);
      if (args[0].kind != Kind::Tensor)
        refuse(fmt::format("method '{}' of {}, expected a tensor", target, to_string(args[0].kind)));
      [[fallthrough]];
    case ir::NodeKind::CallFunction: return apply(builder, resolve(kind, target), kind, target, args, keywords);
    case ir::NodeKind::Operator: return lower_operator(builder, target, args);
    case ir::NodeKind::Attribute: return lower_attribute(builder, target, args.at(0));
    default: refuse("a node that is not a call");
  }
}

Result<void> check_target(bool method, const std::string& target) {
  const ir::NodeKind kind = method ? ir::NodeKind::CallMethod : ir::NodeKind::CallFunction;
  PASSNET_TRY_VOID(ir::check_operator(kind, target));
  try {
    (void)resolve(kind, target);
    return {};
  } catch (const LoweringError& refused) {
    return refused.error;
  }
}

}  // namespace passnet::runtime
