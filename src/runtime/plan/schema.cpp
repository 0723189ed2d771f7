#include "runtime/plan/schema.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text/strings.h"
#include "ir/ops/signature.h"

namespace passnet::runtime {

namespace {

/// Fills type, list and optional flags from a schema type; adds the C++ spelling to `text`.
void read_type(const c10::TypePtr& type, Parameter& parameter, std::string& text) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType: {
      read_type(type->castRaw<c10::OptionalType>()->getElementType(), parameter, text);
      (parameter.list ? parameter.optional_elements : parameter.optional) = true;
      text += '?';
      return;
    }
    case c10::TypeKind::ListType: {
      Parameter element;
      read_type(type->castRaw<c10::ListType>()->getElementType(), element, text);
      parameter.type = element.list ? Type::Other : element.type;
      parameter.list = true;
      parameter.optional_elements = element.optional;
      text += "[]";
      return;
    }
    default: break;
  }
  static const std::unordered_map<c10::TypeKind, std::pair<Type, const char*>> kTypes{
      {c10::TypeKind::TensorType, {Type::Tensor, "Tensor"}},
      {c10::TypeKind::NumberType, {Type::Scalar, "Scalar"}},
      {c10::TypeKind::IntType, {Type::Int, "int"}},
      {c10::TypeKind::SymIntType, {Type::Int, "SymInt"}},
      {c10::TypeKind::FloatType, {Type::Float, "float"}},
      {c10::TypeKind::BoolType, {Type::Bool, "bool"}},
      {c10::TypeKind::StringType, {Type::String, "str"}},
      {c10::TypeKind::ScalarTypeType, {Type::DType, "ScalarType"}},
      {c10::TypeKind::LayoutType, {Type::Layout, "Layout"}},
      {c10::TypeKind::MemoryFormatType, {Type::MemoryFormat, "MemoryFormat"}},
      {c10::TypeKind::DeviceObjType, {Type::Device, "Device"}},
      {c10::TypeKind::GeneratorType, {Type::Generator, "Generator"}},
  };
  const auto found = kTypes.find(type->kind());
  parameter.type = found == kTypes.end() ? Type::Other : found->second.first;
  text += found == kTypes.end() ? type->str() : found->second.second;
}

/// nullopt when Python code cannot call it: out= forms and dimensions by name.
std::optional<Overload> read_overload(const c10::OperatorName& name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle) return std::nullopt;
  const c10::FunctionSchema& schema = handle->schema();
  Overload overload{*handle, {}, {}, 0, 0};
  bool seen_self = false;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.is_out()) return std::nullopt;
    Parameter parameter;
    parameter.name = argument.name();
    if (!overload.signature.empty()) overload.signature += ',';
    // In Tensor?[] the optional belongs to the elements, in Tensor[]? to the list: read_type tells by the
    // order.
    const c10::TypePtr& type = argument.real_type();
    if (type->kind() == c10::TypeKind::OptionalType &&
        type->castRaw<c10::OptionalType>()->getElementType()->kind() == c10::TypeKind::ListType) {
      read_type(type->castRaw<c10::OptionalType>()->getElementType(), parameter, overload.signature);
      parameter.optional = true;
      overload.signature += '?';
    } else {
      read_type(type, parameter, overload.signature);
    }
    // Dimensions by name are strings in the schema; other strings are modes and equations.
    if (parameter.type == Type::String && (parameter.list || parameter.name.find("dim") != std::string::npos))
      return std::nullopt;
    parameter.size = argument.N().value_or(0);
    parameter.keyword_only = argument.kwarg_only();
    parameter.writes = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    if (parameter.writes && parameter.type == Type::Tensor && !parameter.list) overload.signature += '!';
    if (argument.default_value()) parameter.default_value = *argument.default_value();
    if (!seen_self && parameter.name == "self") {
      overload.self = overload.parameters.size();
      seen_self = true;
    }
    overload.positional += parameter.keyword_only ? 0 : 1;
    overload.parameters.push_back(std::move(parameter));
  }
  overload.signature += "->";
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    Parameter unused;
    if (i > 0) overload.signature += ',';
    read_type(schema.returns()[i].real_type(), unused, overload.signature);
    const auto* alias = schema.returns()[i].alias_info();
    if (alias != nullptr && alias->isWrite()) overload.signature += '!';
  }
  return overload;
}

struct Registry {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, std::vector<c10::OperatorName>> by_name;
  std::map<std::string, std::vector<Overload>, std::less<>> read;

  Registry() {
    std::vector<c10::OperatorName> all = c10::Dispatcher::singleton().getAllOpNames();
    std::erase_if(all, [](const c10::OperatorName& op) { return !op.name.starts_with("aten::"); });
    for (const c10::OperatorName& op : all) names.push_back(op.name.substr(6));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (c10::OperatorName& op : all) {
      const auto key = std::lower_bound(names.begin(), names.end(), std::string_view(op.name).substr(6));
      by_name[*key].push_back(std::move(op));
    }
  }
};

Registry& registry() {
  static Registry instance;
  return instance;
}

constexpr int kNoFit = -1;
constexpr int kNumberAsTensor = 20;  // last resort: a wrapped number
constexpr int kTensorAsNumber = 10;  // a tensor of one element

int element_cost(const Operand& operand, const Parameter& parameter) {
  const Kind kind = operand.kind;
  switch (parameter.type) {
    case Type::Tensor:
      if (kind == Kind::Tensor) return 0;
      if (operand.is_number() && !parameter.list) return kNumberAsTensor;
      return kind == Kind::None && parameter.optional_elements ? 0 : kNoFit;
    case Type::Scalar:
      if (operand.is_number()) return 0;
      return kind == Kind::Tensor ? kTensorAsNumber : kNoFit;
    case Type::Int:
      if (kind == Kind::Int) return 0;
      if (kind == Kind::Number) return 1;
      return kind == Kind::Tensor ? kTensorAsNumber : kNoFit;
    case Type::Float:
      if (kind == Kind::Float || kind == Kind::Number) return 0;
      if (kind == Kind::Int || kind == Kind::Bool) return 1;
      return kind == Kind::Tensor ? kTensorAsNumber : kNoFit;
    case Type::Bool: return kind == Kind::Bool ? 0 : kind == Kind::Number ? 1 : kNoFit;
    case Type::String: return kind == Kind::String ? 0 : kNoFit;
    case Type::DType: return kind == Kind::DType ? 0 : kNoFit;
    case Type::Layout: return kind == Kind::Layout ? 0 : kNoFit;
    case Type::MemoryFormat: return kind == Kind::MemoryFormat ? 0 : kNoFit;
    case Type::Device: return kind == Kind::Device || kind == Kind::String ? 0 : kNoFit;
    case Type::Generator:
    case Type::Other: return kNoFit;
  }
  return kNoFit;
}

int operand_cost(const Operand& operand, const Parameter& parameter) {
  if (operand.kind == Kind::None) {
    // torch.foo(…, None) stands for "not given" where a default exists.
    return parameter.optional || parameter.type == Type::Device ? 0 : parameter.default_value ? 2 : kNoFit;
  }
  if (!parameter.list) return operand.is_sequence() ? kNoFit : element_cost(operand, parameter);
  if (!operand.is_sequence()) {
    const bool repeats = parameter.type == Type::Int || parameter.type == Type::Float;
    if (!repeats || parameter.size == 0) return kNoFit;
    const int cost = element_cost(operand, parameter);
    return cost == kNoFit ? kNoFit : cost + 1;
  }
  if (operand.slot >= 0) {
    if (operand.element == Kind::Tensor) return parameter.type == Type::Tensor ? 0 : kNoFit;
    return operand.element == Kind::Int && parameter.type == Type::Int ? 0 : kNoFit;
  }
  int total = 0;
  for (const Operand& element : operand.elements) {
    const int cost = element_cost(element, parameter);
    if (cost == kNoFit) return kNoFit;
    total += cost;
  }
  return total;
}

/// Names that Python's functions use for parameters the schema calls otherwise.
std::string_view schema_name(std::string_view keyword, const Overload& overload) {
  const auto has = [&](std::string_view name) {
    return std::any_of(overload.parameters.begin(), overload.parameters.end(),
                       [&](const Parameter& parameter) { return parameter.name == name; });
  };
  if (has(keyword)) return keyword;
  const std::string_view other = ir::other_keyword(keyword);
  if (has(other)) return other;
  return (keyword == "input" || other == "input") && has("self") ? "self" : std::string_view();
}

bool all_ints(const std::vector<Operand>& args, size_t first) {
  return std::all_of(args.begin() + static_cast<ptrdiff_t>(first), args.end(), [](const Operand& arg) {
    return arg.kind == Kind::Int || arg.kind == Kind::Number || arg.kind == Kind::Tensor;
  });
}

bool bind_positional(Binding& binding, const std::vector<Operand>& args, bool method) {
  const Overload& overload = *binding.overload;
  const size_t given = method ? 1 : 0;
  if (method) {
    if (overload.parameters.empty()) return false;
    binding.operands[overload.self] = &args[0];
  }
  // A lone list of ints may be spread: view(1, -1), torch.zeros(2, 3).
  const size_t open = overload.positional - given;
  for (size_t i = 0; i < overload.positional && open == 1; ++i) {
    const Parameter& parameter = overload.parameters[i];
    if (method && i == overload.self) continue;
    if (parameter.list && parameter.type == Type::Int && args.size() > given && !args[given].is_sequence() &&
        all_ints(args, given)) {
      binding.varargs.push_back(
          Operand::sequence(Kind::Tuple, {args.begin() + static_cast<ptrdiff_t>(given), args.end()}));
      binding.varargs_index = i;
      binding.cost = 1;  // hsplit(2) is hsplit(sections=2), not hsplit([2])
      return true;
    }
  }
  size_t next = given;
  for (size_t i = 0; i < overload.positional && next < args.size(); ++i) {
    if (method && i == overload.self) continue;
    binding.operands[i] = &args[next++];
  }
  return next == args.size();
}

bool bind_keywords(Binding& binding, const std::vector<NamedOperand>& keywords) {
  const Overload& overload = *binding.overload;
  for (const NamedOperand& keyword : keywords) {
    const std::string_view name = schema_name(keyword.name, overload);
    if (name.empty()) {
      // What PyTorch's Python layer takes itself: no gradients here, everything on the CPU.
      if (keyword.name == "requires_grad" || keyword.name == "device" ||
          (keyword.name == "out" && keyword.value.kind == Kind::None))
        continue;
      return false;
    }
    for (size_t i = 0; i < overload.parameters.size(); ++i) {
      if (overload.parameters[i].name != name) continue;
      if (binding.operands[i] != nullptr || (!binding.varargs.empty() && binding.varargs_index == i)) return false;
      binding.operands[i] = &keyword.value;
    }
  }
  return true;
}

std::optional<Binding> bind(const Overload& overload, const std::vector<Operand>& args,
                            const std::vector<NamedOperand>& keywords, bool method) {
  Binding binding;
  binding.overload = &overload;
  binding.operands.resize(overload.parameters.size());
  if (!bind_positional(binding, args, method) || !bind_keywords(binding, keywords)) return std::nullopt;
  for (size_t i = 0; i < overload.parameters.size(); ++i) {
    const Parameter& parameter = overload.parameters[i];
    const Operand* operand =
        !binding.varargs.empty() && binding.varargs_index == i ? binding.varargs.data() : binding.operands[i];
    if (operand == nullptr) {
      if (!parameter.default_value && !parameter.optional) return std::nullopt;
      continue;
    }
    const int cost = operand_cost(*operand, parameter);
    if (cost == kNoFit) return std::nullopt;
    binding.cost += cost;
  }
  return binding;
}

[[noreturn]] void refuse_call(std::string_view name, std::span<const Overload> candidates,
                              const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords) {
  std::string expected;
  for (const Overload& overload : candidates)
    expected += (expected.empty() ? "" : "; ") + fmt::format("{}", fmt::streamed(overload.handle.schema()));
  refuse(fmt::format("operator '{}' does not take {}", name, describe_call(args, keywords)), "it takes: " + expected);
}

}  // namespace

std::span<const Overload> overloads(std::string_view name) {
  Registry& all = registry();
  if (const auto found = all.read.find(name); found != all.read.end()) return found->second;
  const auto listed = all.by_name.find(name);
  if (listed == all.by_name.end()) return {};
  std::vector<Overload> result;
  for (const c10::OperatorName& op : listed->second) {
    if (auto overload = read_overload(op)) result.push_back(std::move(*overload));
  }
  std::sort(result.begin(), result.end(), [](const Overload& a, const Overload& b) {
    return a.handle.operator_name().overload_name < b.handle.operator_name().overload_name;
  });
  return all.read.emplace(name, std::move(result)).first->second;
}

std::span<const std::string> operator_names() { return registry().names; }

Binding choose_overload(std::string_view name, const std::vector<Operand>& args,
                        const std::vector<NamedOperand>& keywords, const CallForm& form) {
  const std::span<const Overload> candidates = overloads(name);
  std::optional<Binding> best;
  for (const Overload& overload : candidates) {
    if (form.overload && overload.handle.operator_name().overload_name != *form.overload) continue;
    auto binding = bind(overload, args, keywords, form.method);
    if (binding && (!best || binding->cost < best->cost)) best = std::move(binding);
  }
  if (!best) refuse_call(name, candidates, args, keywords);
  if (!best->varargs.empty()) best->operands[best->varargs_index] = best->varargs.data();
  return std::move(*best);
}

bool fits(std::string_view name, const std::vector<Operand>& args, const std::vector<NamedOperand>& keywords,
          bool method) {
  for (const Overload& overload : overloads(name)) {
    if (bind(overload, args, keywords, method)) return true;
  }
  return false;
}

}  // namespace passnet::runtime
