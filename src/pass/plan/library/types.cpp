// Types: what isinstance() and type() tell apart, and what can be made by calling one.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pass/plan/library/builtins.h"

namespace passnet::pass {

namespace {

bool is_exception(std::string_view name) {
  return name == "Exception" || name == "BaseException" || name.ends_with("Error") || name.ends_with("Warning");
}

/// The names that a value's type has: "bool" is an "int", too.
std::vector<std::string_view> types_of(const Value& value) {
  if (get_if<bool>(value)) return {"bool", "int"};
  if (get_if<int64_t>(value)) return {"int"};
  if (get_if<double>(value)) return {"float"};
  if (get_if<std::string>(value)) return {"str"};
  if (get_if<View>(value)) return {"torch.Tensor"};
  if (get_if<ir::DType>(value)) return {"torch.dtype"};
  if (get_if<DeviceValue>(value)) return {"torch.device"};
  if (get_dict(value)) return {"dict"};
  if (const Sequence* sequence = get_sequence(value))
    return sequence->is_list ? std::vector<std::string_view>{"list"}
                             : std::vector<std::string_view>{"tuple", "torch.Size"};
  if (get_if<SliceValue>(value)) return {"slice"};
  return {};
}

std::string_view name_of_type(const Value& type) {
  if (const auto* known = get_if<TypeValue>(type)) return known->name;
  if (const auto* builtin = get_if<BuiltinValue>(type)) return builtin->builtin->name;
  if (get_if<NoneValue>(type)) return "None";
  return {};
}

Result<Value> call_isinstance(PlanState& state, const Bound& args) {
  PASSNET_TRY(const bool is_one, is_instance(state, *args[0], *args[1]));
  return Value(is_one);
}

Result<Value> call_type_of(PlanState&, const Bound& args) { return type_of(*args[0]); }

/// id(x): tells tensors and objects apart.
Result<Value> call_id(PlanState&, const Bound& args) {
  if (const auto* view = get_if<View>(*args[0])) return Value(AddressValue{view->buffer, view->offset});
  const void* object = get_sequence(*args[0]);
  if (object == nullptr) object = get_dict(*args[0]);
  return Value(AddressValue{static_cast<int64_t>(reinterpret_cast<intptr_t>(object)), -1});
}

Result<Value> call_callable(PlanState&, const Bound& args) {
  return Value(get_if<FunctionValue>(*args[0]) != nullptr || get_if<BuiltinValue>(*args[0]) != nullptr);
}

Result<Value> call_slice(PlanState&, const Bound& args) {
  SliceValue slice;
  const auto number = [](const std::optional<Value>& value, std::optional<int64_t>& to) -> Result<void> {
    if (!value || get_if<NoneValue>(*value)) return {};
    PASSNET_TRY(to, int_argument(value, "slice"));
    return {};
  };
  const bool has_start = args[1].has_value();
  PASSNET_TRY_VOID(number(args[has_start ? 1 : 0], slice.stop));
  if (has_start) PASSNET_TRY_VOID(number(args[0], slice.start));
  PASSNET_TRY_VOID(number(args[2], slice.step));
  return Value(slice);
}

constexpr Builtin kTypeFunctions[] = {
    {"isinstance", "value, type", call_isinstance},
    {"type", "value", call_type_of},
    {"id", "value", call_id},
    {"callable", "value", call_callable},
    {"slice", "start, stop?, step?", call_slice},
};

}  // namespace

std::span<const Builtin> type_functions() { return kTypeFunctions; }

std::optional<TypeValue> find_type(std::string_view dotted_name) {
  constexpr std::array<std::string_view, 6> kTypes{"torch.Tensor", "torch.dtype",        "torch.device",
                                                   "object",       "torch.nn.Parameter", "NoneType"};
  const auto found = std::ranges::find(kTypes, dotted_name);
  if (found != kTypes.end()) return TypeValue{*found};
  if (dotted_name == "torch.FloatTensor" || dotted_name == "torch.cuda.FloatTensor") return std::nullopt;
  constexpr std::array<std::string_view, 15> kExceptions{
      "Exception",      "BaseException",       "ValueError",        "TypeError",   "RuntimeError",
      "KeyError",       "IndexError",          "AssertionError",    "ImportError", "ModuleNotFoundError",
      "AttributeError", "NotImplementedError", "ZeroDivisionError", "OSError",     "ArithmeticError"};
  const auto exception = std::ranges::find(kExceptions, dotted_name);
  if (exception != kExceptions.end()) return TypeValue{*exception};
  return std::nullopt;
}

Result<Value> type_of(const Value& value) {
  const std::vector<std::string_view> types = types_of(value);
  if (types.empty()) return bad_pass(fmt::format("type of {} is not known here", describe(value)));
  if (const Builtin* builtin = find_function(types[0])) return Value(BuiltinValue{builtin});
  return Value(TypeValue{types[0]});
}

Result<bool> is_instance(PlanState& state, const Value& value, const Value& type) {
  PASSNET_TRY_VOID(state.steps.charge(1));
  if (const Sequence* several = get_sequence(type); several && !several->is_list) {
    for (const Value& one : several->items) {
      PASSNET_TRY(const bool is_one, is_instance(state, value, one));
      if (is_one) return true;
    }
    return false;
  }
  const std::string_view wanted = name_of_type(type);
  if (wanted.empty()) return bad_pass(fmt::format("isinstance: found {}, expected a type", describe(type)));
  if (wanted == "object") return true;
  if (wanted == "None" || wanted == "NoneType") return get_if<NoneValue>(value) != nullptr;
  const std::vector<std::string_view> types = types_of(value);
  return std::ranges::find(types, wanted) != types.end();
}

Result<Value> make_of_type(PlanState& state, const TypeValue& type, const CallArguments& arguments) {
  if (is_exception(type.name)) {
    ExceptionValue made{std::string(type.name), ""};
    if (!arguments.positional.empty()) {
      const auto text = to_text(arguments.positional[0], state.steps);
      made.text = text ? *text : describe(arguments.positional[0]);
    }
    return Value(std::move(made));
  }
  if (type.name == "torch.device") return Value(DeviceValue{});
  return bad_pass(fmt::format("outside the plan language: found a call of {}", type.name));
}

}  // namespace passnet::pass
