#include "pass/plan/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include "base/strings.h"

namespace passnet::pass {

namespace {

struct ParameterSpec {
  std::string_view name;
  bool variadic = false;
  bool optional = false;
};

std::vector<ParameterSpec> parse_parameters(std::string_view text) {
  std::vector<ParameterSpec> specs;
  if (text.empty()) return specs;
  for (std::string_view part : split(text, ',')) {
    ParameterSpec spec{trim(part)};
    spec.variadic = spec.name.ends_with('*');
    spec.optional = spec.name.ends_with('?');
    if (spec.variadic || spec.optional) spec.name.remove_suffix(1);
    specs.push_back(spec);
  }
  return specs;
}

const Builtin* find_in(std::span<const Builtin> table, std::string_view name) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const Builtin& b) { return b.name == name; });
  return row == table.end() ? nullptr : &*row;
}

void append_names(std::span<const Builtin> table, std::vector<std::string_view>& names) {
  for (const Builtin& builtin : table) names.push_back(builtin.name);
}

}  // namespace

Result<void> charge(PlanState& state, size_t steps) {
  state.steps_left -= static_cast<int64_t>(std::min<size_t>(steps, kMaxSteps + 1));
  if (state.steps_left >= 0) return {};
  return bad_pass(fmt::format("the plan takes more than {} steps", kMaxSteps))
      .with_hint("a plan chooses sizes and launches kernels; loops over elements belong in a kernel");
}

const Builtin* find_function(std::string_view name) {
  const Builtin* builtin = find_in(python_functions(), name);
  return builtin ? builtin : find_in(torch_functions(), name);
}

const Builtin* find_method(std::string_view name) { return find_in(tensor_methods(), name); }

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names;
  append_names(python_functions(), names);
  append_names(torch_functions(), names);
  return names;
}

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names;
  append_names(tensor_methods(), names);
  return names;
}

Result<Bound> bind_arguments(const Builtin& builtin, CallArguments arguments) {
  const std::vector<ParameterSpec> specs = parse_parameters(builtin.parameters);
  Bound bound(specs.size());
  size_t next = 0;
  for (size_t i = 0; i < specs.size() && next < arguments.positional.size(); ++i) {
    if (specs[i].variadic) {
      const auto first = arguments.positional.begin() + static_cast<std::ptrdiff_t>(next);
      PASSNET_TRY(bound[i], make_sequence(false, std::vector<Value>(first, arguments.positional.end())));
      next = arguments.positional.size();
    } else {
      bound[i] = std::move(arguments.positional[next++]);
    }
  }
  if (next < arguments.positional.size()) {
    return bad_pass(fmt::format("{} takes at most {} argument{}, found {}", builtin.name, specs.size(),
                                specs.size() == 1 ? "" : "s", arguments.positional.size()));
  }
  for (auto& [name, value] : arguments.keywords) {
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [wanted = name](const auto& s) { return s.name == wanted; });
    if (spec == specs.end()) {
      return bad_pass(fmt::format("{} has no parameter {}", builtin.name, quoted(name)))
          .with_hint(fmt::format("its parameters are ({})", builtin.parameters));
    }
    auto& slot = bound[static_cast<size_t>(spec - specs.begin())];
    if (slot) return bad_pass(fmt::format("{} got its parameter {} twice", builtin.name, quoted(name)));
    slot = std::move(value);
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!bound[i] && !specs[i].optional && !specs[i].variadic) {
      return bad_pass(fmt::format("{} lacks its argument {}", builtin.name, quoted(specs[i].name)));
    }
  }
  return bound;
}

std::optional<Value> find_constant(std::string_view dotted_name) {
  if (dotted_name == "math.inf" || dotted_name == "torch.inf") return std::numeric_limits<double>::infinity();
  if (dotted_name == "math.nan" || dotted_name == "torch.nan") return std::numeric_limits<double>::quiet_NaN();
  if (dotted_name == "math.pi" || dotted_name == "torch.pi") return std::numbers::pi;
  if (dotted_name == "math.e") return std::numbers::e;
  if (dotted_name == "torch.contiguous_format" || dotted_name == "torch.preserve_format" ||
      dotted_name == "torch.strided") {
    return Value(std::string(dotted_name));
  }
  if (dotted_name.starts_with("torch.")) {
    if (const auto dtype = ir::parse_dtype(dotted_name)) return Value(*dtype);
  }
  return std::nullopt;
}

bool is_module(std::string_view name) { return name == "torch" || name == "math" || name == "triton"; }

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
