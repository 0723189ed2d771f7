// Functions of Python itself, math and triton that a plan may call.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/json/python_number.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "pass/plan/library/builtins.h"

namespace passnet::pass {

namespace {

constexpr size_t kRowSteps = 4;  // of a tuple beside its items

/// The items of a sequence argument; of a variadic one, its only item when that is a sequence: min(a, b) =
/// min((a, b)).
Result<std::vector<Value>> items_of(PlanState& state, const std::optional<Value>& value, std::string_view name,
                                    bool spread = false) {
  const Sequence* sequence = value ? get_sequence(*value) : nullptr;
  if (const Dict* dict = value ? get_dict(*value) : nullptr) return keys_of(*dict, state.steps);
  if (spread && sequence && sequence->items.size() == 1) sequence = get_sequence(sequence->items[0]);
  if (sequence) return copy_values(sequence->items, state.steps);
  if (const auto* view = value ? get_if<View>(*value) : nullptr; view) {
    return bad_pass(fmt::format("argument '{}': found {}, expected a list or tuple", name, describe(*value)))
        .with_hint("a plan knows sizes, not data; x.shape is a tuple");
  }
  return bad_pass(fmt::format("argument '{}': found {}, expected a list or tuple", name,
                              value ? describe(*value) : std::string("nothing")));
}

Result<double> float_argument(const std::optional<Value>& value, std::string_view name) {
  if (const auto number = value ? as_float(*value) : std::nullopt) return *number;
  return bad_pass(fmt::format("argument '{}': found {}, expected a number", name,
                              value ? describe(*value) : std::string("nothing")));
}

Result<Value> int_from(double number, std::string_view function) {
  if (!(number >= -0x1p63 && number < 0x1p63)) {  // NaN too
    return bad_pass(fmt::format("{}: {} does not fit into 64 bits", function, number));
  }
  return Value(static_cast<int64_t>(number));
}

Result<Value> call_len(PlanState&, const Bound& args) {
  if (const Sequence* sequence = get_sequence(*args[0])) return Value(static_cast<int64_t>(sequence->items.size()));
  if (const Dict* dict = get_dict(*args[0])) return Value(static_cast<int64_t>(dict->items.size()));
  if (const auto* text = get_if<std::string>(*args[0])) return Value(static_cast<int64_t>(text->size()));
  const auto* view = get_if<View>(*args[0]);
  if (view && !view->type.shape.empty()) return Value(view->type.shape[0]);
  return bad_pass(fmt::format("{} has no length", describe(*args[0])));
}

template <Operator better>
Result<Value> call_best(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<Value> items, items_of(state, args[0], "values", true));
  if (items.empty()) return bad_pass(fmt::format("{} of no values", better == Operator::Less ? "min" : "max"));
  const Value* best = &items[0];
  for (const Value& item : items) {
    PASSNET_TRY(const Value wins, apply_binary(better, item, *best, state.steps));
    if (std::get<bool>(wins)) best = &item;
  }
  return *best;
}

Result<Value> call_abs(PlanState&, const Bound& args) {
  const auto number = as_float(*args[0]);
  if (!number) return bad_pass(fmt::format("abs of {}, expected a number", describe(*args[0])));
  if (get_if<double>(*args[0])) return Value(std::fabs(*number));
  return *number < 0 ? apply_unary(Operator::Negative, *args[0]) : apply_unary(Operator::Positive, *args[0]);
}

/// A number as Python reads it from a text. Errors: BadPass where it would raise ValueError.
template <class Number>
Result<Value> number_of_text(const std::string& text, std::string_view function) {
  const std::string_view digits = trim(text);
  if (const auto number = parse_number<Number>(digits.substr(digits.starts_with('+') ? 1 : 0))) return Value(*number);
  return bad_pass(fmt::format("{} of {}, expected a number", function, passnet::quoted(text)));
}

Result<Value> call_int(PlanState&, const Bound& args) {
  if (const auto* text = get_if<std::string>(*args[0])) return number_of_text<int64_t>(*text, "int");
  if (const auto number = as_int(*args[0])) return Value(*number);
  PASSNET_TRY(const double number, float_argument(args[0], "value"));
  return int_from(std::trunc(number), "int");
}

Result<Value> call_float(PlanState&, const Bound& args) {
  if (const auto* text = get_if<std::string>(*args[0])) {
    if (*text == "inf") return Value(std::numeric_limits<double>::infinity());
    if (*text == "-inf") return Value(-std::numeric_limits<double>::infinity());
    if (*text == "nan") return Value(std::numeric_limits<double>::quiet_NaN());
    return number_of_text<double>(*text, "float");
  }
  PASSNET_TRY(const double number, float_argument(args[0], "value"));
  return Value(number);
}

Result<Value> call_bool(PlanState&, const Bound& args) {
  PASSNET_TRY(const bool value, truth(*args[0]));
  return Value(value);
}

Result<Value> call_round(PlanState&, const Bound& args) {
  if (const auto number = as_int(*args[0])) return Value(*number);
  PASSNET_TRY(const double number, float_argument(args[0], "value"));
  return int_from(std::nearbyint(number), "round");  // ties to even, as Python
}

Result<Value> call_str(PlanState& state, const Bound& args) {
  PASSNET_TRY(std::string text, to_text(*args[0], state.steps));
  return Value(std::move(text));
}

Result<Value> call_sum(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<Value> items, items_of(state, args[0], "values"));
  Value total = args[1] ? *args[1] : Value(int64_t{0});
  for (const Value& item : items) {
    if (!as_float(item)) return bad_pass(fmt::format("sum over {}, expected numbers", describe(item)));
    PASSNET_TRY(total, apply_binary(Operator::Add, total, item, state.steps));
  }
  return total;
}

template <bool stop_at>
Result<Value> call_any(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<Value> items, items_of(state, args[0], "values"));
  for (const Value& item : items) {
    PASSNET_TRY(const bool value, truth(item));
    if (value == stop_at) return Value(stop_at);
  }
  return Value(!stop_at);
}

Result<Value> call_range(PlanState& state, const Bound& args) {
  PASSNET_TRY(int64_t start, int_argument(args[0], "start"));
  int64_t stop = 0, step = 1;
  if (args[1]) {
    PASSNET_TRY(stop, int_argument(args[1], "stop"));
  } else {
    std::swap(start, stop);
  }
  if (args[2]) {
    PASSNET_TRY(step, int_argument(args[2], "step"));
  }
  if (step == 0) return bad_pass("range with step 0");
  std::vector<Value> items;
  for (std::optional<int64_t> at = start; at && (step > 0 ? *at < stop : *at > stop); at = python::add(*at, step)) {
    if (items.size() == kMaxSequenceItems) {
      return bad_pass(fmt::format("range too long: more than {} items", kMaxSequenceItems))
          .with_hint("loops over elements belong in a kernel");
    }
    PASSNET_TRY_VOID(state.steps.charge(1));
    items.emplace_back(*at);
  }
  return make_sequence(false, std::move(items));
}

Result<Value> call_zip(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<Value> sequences, items_of(state, args[0], "sequences"));
  std::vector<std::vector<Value>> columns;
  size_t length = sequences.empty() ? 0 : kMaxSequenceItems;
  for (const Value& sequence : sequences) {
    PASSNET_TRY(std::vector<Value> column, items_of(state, sequence, "sequences"));
    length = std::min(length, column.size());
    columns.push_back(std::move(column));
  }
  std::vector<Value> rows;
  PASSNET_TRY_VOID(state.steps.charge(length * (kRowSteps + columns.size())));
  for (size_t i = 0; i < length; ++i) {
    std::vector<Value> row;
    for (auto& column : columns) row.push_back(std::move(column[i]));
    PASSNET_TRY(Value tuple, make_sequence(false, std::move(row)));
    rows.push_back(std::move(tuple));
  }
  return make_sequence(true, std::move(rows));
}

Result<Value> call_enumerate(PlanState& state, const Bound& args) {
  PASSNET_TRY(std::vector<Value> items, items_of(state, args[0], "sequence"));
  int64_t start = 0;
  if (args[1]) {
    PASSNET_TRY(start, int_argument(args[1], "start"));
  }
  PASSNET_TRY_VOID(state.steps.charge(items.size() * kRowSteps));
  std::vector<Value> rows;
  for (size_t i = 0; i < items.size(); ++i) {
    PASSNET_TRY(Value number, apply_binary(Operator::Add, Value(start), Value(static_cast<int64_t>(i)), state.steps));
    PASSNET_TRY(Value row, make_sequence(false, {std::move(number), std::move(items[i])}));
    rows.push_back(std::move(row));
  }
  return make_sequence(true, std::move(rows));
}

template <bool is_list>
Result<Value> call_sequence(PlanState& state, const Bound& args) {
  if (!args[0]) return make_sequence(is_list, {});
  PASSNET_TRY(std::vector<Value> items, items_of(state, args[0], "values"));
  return make_sequence(is_list, std::move(items));
}

Result<Value> call_reversed(PlanState& state, const Bound& args) {
  PASSNET_TRY(std::vector<Value> items, items_of(state, args[0], "values"));
  std::reverse(items.begin(), items.end());
  return make_sequence(true, std::move(items));
}

Result<Value> call_prod(PlanState& state, const Bound& args) {
  PASSNET_TRY(const std::vector<Value> items, items_of(state, args[0], "values"));
  Value product{int64_t{1}};
  for (const Value& item : items) {
    if (!as_float(item)) return bad_pass(fmt::format("math.prod over {}, expected numbers", describe(item)));
    PASSNET_TRY(product, apply_binary(Operator::Multiply, product, item, state.steps));
  }
  return product;
}

template <double (*function)(double)>
Result<Value> call_real(PlanState&, const Bound& args) {
  PASSNET_TRY(const double number, float_argument(args[0], "value"));
  const double result = function(number);
  if (!std::isfinite(result) && std::isfinite(number)) {
    return bad_pass(fmt::format("argument 'value': {} is outside the function's domain", number));
  }
  return Value(result);
}

template <double (*function)(double)>
Result<Value> call_rounding(PlanState&, const Bound& args) {
  if (const auto number = as_int(*args[0])) return Value(*number);
  PASSNET_TRY(const double number, float_argument(args[0], "value"));
  return int_from(function(number), "rounding");
}

Result<Value> call_cdiv(PlanState& state, const Bound& args) {
  PASSNET_TRY(const int64_t a, int_argument(args[0], "x"));
  PASSNET_TRY(const int64_t b, int_argument(args[1], "y"));
  PASSNET_TRY(const Value floor, apply_binary(Operator::FloorDivide, Value(a), Value(b), state.steps));
  PASSNET_TRY(const Value rest, apply_binary(Operator::Modulo, Value(a), Value(b), state.steps));
  return Value(std::get<int64_t>(floor) + (std::get<int64_t>(rest) != 0 ? 1 : 0));
}

Result<Value> call_next_power_of_2(PlanState&, const Bound& args) {
  PASSNET_TRY(const int64_t n, int_argument(args[0], "n"));
  if (n > int64_t{1} << 62) return bad_pass(fmt::format("next_power_of_2({}) does not fit into 64 bits", n));
  return Value(n <= 0 ? int64_t{0} : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))));
}

double square_root(double x) { return std::sqrt(x); }
double logarithm_2(double x) { return std::log2(x); }
double logarithm_10(double x) { return std::log10(x); }
double logarithm(double x) { return std::log(x); }
double exponential(double x) { return std::exp(x); }
double round_up(double x) { return std::ceil(x); }
double round_down(double x) { return std::floor(x); }

Result<Value> call_real_power(PlanState& state, const Bound& args) {
  PASSNET_TRY(const double base, float_argument(args[0], "x"));
  PASSNET_TRY(const double exponent, float_argument(args[1], "y"));
  return apply_binary(Operator::Power, Value(base), Value(exponent), state.steps);
}

Result<Value> call_divmod(PlanState& state, const Bound& args) {
  PASSNET_TRY(Value quotient, apply_binary(Operator::FloorDivide, *args[0], *args[1], state.steps));
  PASSNET_TRY(Value rest, apply_binary(Operator::Modulo, *args[0], *args[1], state.steps));
  return make_sequence(false, {std::move(quotient), std::move(rest)});
}

Result<Value> call_pow(PlanState& state, const Bound& args) {
  return apply_binary(Operator::Power, *args[0], *args[1], state.steps);
}

Result<Value> call_dict(PlanState& state, const Bound& args) {
  if (!args[0]) return make_dict({}, state.steps);
  if (const Dict* dict = get_dict(*args[0])) return make_dict(dict->items, state.steps);
  PASSNET_TRY(const std::vector<Value> pairs, items_of(state, args[0], "items"));
  std::vector<std::pair<Value, Value>> items;
  for (const Value& pair : pairs) {
    const Sequence* both = get_sequence(pair);
    if (both == nullptr || both->items.size() != 2)
      return bad_pass(fmt::format("dict: found {}, expected pairs of a key and a value", describe(pair)));
    PASSNET_TRY_VOID(state.steps.charge(2 + extra_steps(both->items[0]) + extra_steps(both->items[1])));
    items.emplace_back(both->items[0], both->items[1]);
  }
  return make_dict(items, state.steps);
}

Result<Value> call_bit_length(PlanState&, const Bound& args) {
  const auto number = as_int(*args[0]);
  if (!number) return bad_pass(fmt::format("{} has no method 'bit_length'", describe(*args[0])));
  const uint64_t size = *number < 0 ? 0 - static_cast<uint64_t>(*number) : static_cast<uint64_t>(*number);
  return Value(static_cast<int64_t>(std::bit_width(size)));
}

Result<Value> call_is_integer(PlanState&, const Bound& args) {
  const double number = *as_float(*args[0]);
  return Value(std::isfinite(number) && std::trunc(number) == number);
}

constexpr Builtin kNumberMethods[] = {
    {"bit_length", "self", call_bit_length},
    {"is_integer", "self", call_is_integer},
};

constexpr Builtin kHostFunctions[] = {
    {"divmod", "a, b", call_divmod},
    {"pow", "base, exp", call_pow},
    {"dict", "items?", call_dict},
    {"repr", "value", call_str},
    {"len", "value", call_len},
    {"min", "*values", call_best<Operator::Less>},
    {"max", "*values", call_best<Operator::Greater>},
    {"abs", "value", call_abs},
    {"int", "value", call_int},
    {"float", "value", call_float},
    {"bool", "value", call_bool},
    {"round", "value", call_round},
    {"str", "value", call_str},
    {"sum", "values, start?", call_sum},
    {"any", "values", call_any<true>},
    {"all", "values", call_any<false>},
    {"range", "start, stop?, step?", call_range},
    {"zip", "*sequences", call_zip},
    {"enumerate", "sequence, start?", call_enumerate},
    {"reversed", "values", call_reversed},
    {"tuple", "values?", call_sequence<false>},
    {"list", "values?", call_sequence<true>},
    {"math.sqrt", "value", call_real<square_root>},
    {"math.log2", "value", call_real<logarithm_2>},
    {"math.log", "value", call_real<logarithm>},
    {"math.exp", "value", call_real<exponential>},
    {"math.ceil", "value", call_rounding<round_up>},
    {"math.floor", "value", call_rounding<round_down>},
    {"math.prod", "values", call_prod},
    {"math.log10", "value", call_real<logarithm_10>},
    {"math.pow", "x, y", call_real_power},
    {"triton.cdiv", "x, y", call_cdiv},
    {"cdiv", "x, y", call_cdiv},
    {"triton.next_power_of_2", "n", call_next_power_of_2},
    {"next_power_of_2", "n", call_next_power_of_2},
};

}  // namespace

std::span<const Builtin> python_functions() { return kHostFunctions; }
std::span<const Builtin> number_methods() { return kNumberMethods; }

}  // namespace passnet::pass
