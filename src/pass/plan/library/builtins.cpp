#include "pass/plan/library/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <unordered_map>

#include "base/text/strings.h"

namespace passnet::pass {

namespace {

std::string to_string(std::span<const ir::Slot> signature) {
  std::string text;
  for (const ir::Slot& slot : signature) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", slot.name, slot.variadic ? "*" : slot.required ? "" : "?");
  }
  return text;
}

Error explain(std::string_view callee, std::span<const ir::Slot> signature, const ir::Misfit& misfit, size_t positional,
              std::span<const std::string_view> keywords) {
  switch (misfit.reason) {
    case ir::Misfit::Reason::TooMany:
      return bad_pass(fmt::format("{} takes at most {} argument{}, found {}", callee, signature.size(),
                                  signature.size() == 1 ? "" : "s", positional));
    case ir::Misfit::Reason::Unknown:
      return bad_pass(fmt::format("{} has no parameter {}", callee, quoted(keywords[misfit.place])))
          .with_hint(fmt::format("its parameters are ({})", to_string(signature)));
    case ir::Misfit::Reason::Twice:
      return bad_pass(fmt::format("{} got its parameter {} twice", callee, quoted(signature[misfit.place].name)));
    case ir::Misfit::Reason::Missing: break;
  }
  return bad_pass(fmt::format("{} lacks its argument {}", callee, quoted(signature[misfit.place].name)));
}

/// One for each kind of object that has methods.
std::array<std::span<const Builtin>, 5> method_tables() {
  return {tensor_methods(), string_methods(), list_methods(), dict_methods(), number_methods()};
}

std::array<std::span<const Builtin>, 4> function_tables() {
  return {python_functions(), torch_functions(), library_functions(), type_functions()};
}

const Builtin* find_in(std::span<const Builtin> table, std::string_view name) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const Builtin& b) { return b.name == name; });
  return row == table.end() ? nullptr : &*row;
}

void append_names(std::span<const Builtin> table, std::vector<std::string_view>& names) {
  for (const Builtin& builtin : table) names.push_back(builtin.name);
}

}  // namespace

const Builtin* find_function(std::string_view name) {
  for (const auto table : function_tables()) {
    if (const Builtin* builtin = find_in(table, name)) return builtin;
  }
  return nullptr;
}

const Builtin* find_method(const Value& object, std::string_view name) {
  if (get_if<View>(object)) return find_in(tensor_methods(), name);
  if (get_dict(object)) return find_in(dict_methods(), name);
  if (get_sequence(object)) return find_in(list_methods(), name);
  if (as_float(object)) return find_in(number_methods(), name);
  return get_if<std::string>(object) ? find_in(string_methods(), name) : nullptr;
}

const Builtin* find_method(std::string_view name) {
  for (const auto table : method_tables()) {
    if (const Builtin* builtin = find_in(table, name)) return builtin;
  }
  return nullptr;
}

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names;
  for (const auto table : function_tables()) append_names(table, names);
  return names;
}

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names;
  for (const auto table : method_tables()) append_names(table, names);
  return names;
}

const std::vector<ir::Slot>& signature_of(const Builtin& builtin) {
  static const auto kSignatures = [] {
    std::unordered_map<const Builtin*, std::vector<ir::Slot>> signatures;
    const auto add = [&](std::span<const Builtin> table) {
      for (const Builtin& each : table) signatures.emplace(&each, ir::parse_signature(each.parameters));
    };
    std::ranges::for_each(function_tables(), add);
    std::ranges::for_each(method_tables(), add);
    return signatures;
  }();
  return kSignatures.at(&builtin);
}

std::vector<ir::Slot> signature_of(const std::vector<Parameter>& parameters) {
  std::vector<ir::Slot> signature;
  for (const Parameter& parameter : parameters) {
    ir::Slot& slot = signature.emplace_back();
    slot.name = slot.call_name = parameter.name;
    slot.required = parameter.default_value == nullptr && parameter.kind == ParameterKind::Plain;
    slot.variadic = parameter.kind == ParameterKind::Variadic;
  }
  return signature;
}

Result<Bound> bind_arguments(std::string_view callee, std::span<const ir::Slot> signature, CallArguments arguments) {
  std::vector<Value>& positional = arguments.positional;
  std::vector<std::string_view> keywords;
  for (const auto& [name, value] : arguments.keywords) keywords.push_back(name);
  const ir::Assignment made = ir::bind_arguments(signature, positional.size(), keywords);
  if (made.misfit) return explain(callee, signature, *made.misfit, positional.size(), keywords);
  Bound bound(signature.size());
  for (size_t i = 0; i < made.slots.size(); ++i) {
    std::optional<Value>& value = bound[made.slots[i]];
    if (i >= positional.size()) {
      value = std::move(arguments.keywords[i - positional.size()].second);
    } else if (!signature[made.slots[i]].variadic) {
      value = std::move(positional[i]);
    } else {
      const auto first = positional.begin() + static_cast<std::ptrdiff_t>(i);
      PASSNET_TRY(value, make_sequence(false, std::vector<Value>(first, positional.end())));
      i = positional.size() - 1;
    }
  }
  return bound;
}

namespace {
/// tl.float16 and the like; a plan tells them no more from PyTorch's than a launch does.
std::optional<Value> triton_dtype(std::string_view name) {
  if (name == "int1") return Value(ir::DType::Bool);
  constexpr std::array<std::string_view, 9> kNames{"float16", "bfloat16", "float32", "float64", "int8",
                                                   "int16",   "int32",    "int64",   "uint8"};
  if (std::ranges::find(kNames, name) == kNames.end()) return std::nullopt;
  return Value(*ir::parse_dtype(fmt::format("torch.{}", name)));
}
}  // namespace

std::optional<Value> find_constant(std::string_view dotted_name) {
  if (dotted_name == "math.inf" || dotted_name == "torch.inf") return std::numeric_limits<double>::infinity();
  if (dotted_name == "math.nan" || dotted_name == "torch.nan") return std::numeric_limits<double>::quiet_NaN();
  if (dotted_name == "math.pi" || dotted_name == "torch.pi") return std::numbers::pi;
  if (dotted_name == "math.e") return std::numbers::e;
  if (dotted_name == "torch.channels_last" || dotted_name == "torch.contiguous_format" ||
      dotted_name == "torch.preserve_format" || dotted_name == "torch.strided") {
    return Value(std::string(dotted_name));
  }
  if (dotted_name.starts_with("torch.")) {
    if (const auto dtype = ir::parse_dtype(dotted_name)) return Value(*dtype);
  }
  if (dotted_name.starts_with("tl.")) return triton_dtype(dotted_name.substr(3));
  if (dotted_name == "sys.path") return *make_sequence(true, {});
  if (dotted_name == "sys.modules") return Value(std::make_shared<Dict>());
  if (const auto type = find_type(dotted_name)) return Value(*type);
  return std::nullopt;
}

bool is_module(std::string_view name) { return name == "torch" || name == "math" || name == "triton" || name == "tl"; }

Result<int64_t> int_argument(const std::optional<Value>& value, std::string_view name) {
  const auto number = value ? as_int(*value) : std::nullopt;
  if (number) return *number;
  return bad_pass(fmt::format("argument '{}': found {}, expected an integer", name,
                              value ? describe(*value) : std::string("nothing")));
}

Result<ir::DType> dtype_argument(const std::optional<Value>& value, ir::DType otherwise) {
  if (!value || get_if<NoneValue>(*value)) return otherwise;
  if (const auto* dtype = get_if<ir::DType>(*value)) return *dtype;
  return bad_pass(fmt::format("argument 'dtype': found {}, expected a dtype such as torch.float32", describe(*value)));
}

Result<std::vector<int64_t>> sizes_argument(const std::optional<Value>& value, std::string_view name) {
  std::vector<int64_t> sizes;
  if (!value) return sizes;
  if (const auto number = as_int(*value)) return std::vector<int64_t>{*number};
  const Sequence* sequence = get_sequence(*value);
  if (sequence && sequence->items.size() == 1 && get_sequence(sequence->items[0])) {
    sequence = get_sequence(sequence->items[0]);
  }
  if (!sequence) return bad_pass(fmt::format("argument '{}': found {}, expected integers", name, describe(*value)));
  for (const Value& item : sequence->items) {
    PASSNET_TRY(const int64_t size, int_argument(item, name));
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace passnet::pass
