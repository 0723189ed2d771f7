#include "pass/plan/interpret/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/json/python_number.h"
#include "base/text/strings.h"
#include "pass/plan/syntax/check.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

bool makes_values(ExprKind kind) {
  return kind != ExprKind::Literal && kind != ExprKind::Name && kind != ExprKind::Lambda;
}

/// kind: what has so many items.
Result<size_t> place_of(int64_t at, size_t length, const char* kind) {
  const auto size = static_cast<int64_t>(length);
  if (at >= -size && at < size) return static_cast<size_t>(at < 0 ? at + size : at);
  return bad_pass(
      fmt::format("index out of range: found {}, the {} has {} item{}", at, kind, size, size == 1 ? "" : "s"));
}

/// The places that a slice takes out of so many items, each at the cost of a step.
Result<std::vector<size_t>> places_of(const Value& index, size_t length, Budget& steps) {
  const auto size = static_cast<int64_t>(length);
  const auto* slice = get_if<SliceValue>(index);
  if (!slice) return bad_pass(fmt::format("cannot index a sequence with {}", describe(index)));
  const int64_t step = slice->step.value_or(1);
  if (step == 0) return bad_pass("slice step 0");
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
  const int64_t start = slice->start ? clamp(*slice->start) : (step > 0 ? low : high);
  const int64_t stop = slice->stop ? clamp(*slice->stop) : (step > 0 ? high : low);
  std::vector<size_t> places;
  for (std::optional<int64_t> at = start; at && (step > 0 ? *at < stop : *at > stop); at = python::add(*at, step)) {
    PASSNET_TRY_VOID(steps.charge(1));
    places.push_back(static_cast<size_t>(*at));
  }
  return places;
}

Result<Value> index_sequence(const Sequence& sequence, const Value& index, Budget& steps) {
  if (const auto number = as_int(index)) {
    PASSNET_TRY(const size_t at, place_of(*number, sequence.items.size(), sequence.is_list ? "list" : "tuple"));
    return sequence.items[at];
  }
  PASSNET_TRY(const std::vector<size_t> places, places_of(index, sequence.items.size(), steps));
  std::vector<Value> items;
  for (const size_t at : places) {
    PASSNET_TRY_VOID(steps.charge(extra_steps(sequence.items[at])));
    items.push_back(sequence.items[at]);
  }
  return make_sequence(sequence.is_list, std::move(items));
}

Result<Value> index_text(const std::string& text, const Value& index, Budget& steps) {
  if (const auto number = as_int(index)) {
    PASSNET_TRY(const size_t at, place_of(*number, text.size(), "string"));
    return Value(std::string(1, text[at]));
  }
  PASSNET_TRY(const std::vector<size_t> places, places_of(index, text.size(), steps));
  std::string part;
  for (const size_t at : places) part += text[at];
  return Value(std::move(part));
}

/// Steps of a new value beside that of its expression.
size_t size_of(const Value& value) {
  if (const Sequence* sequence = get_sequence(value)) return sequence->items.size();
  if (const Dict* dict = get_dict(value)) return dict->items.size();
  return extra_steps(value);
}

}  // namespace

const void* identity_of(const Value& value) {
  if (const auto* function = get_if<FunctionValue>(value)) return function->function;
  if (const auto* kernel = get_if<std::shared_ptr<const KernelObject>>(value)) return (*kernel)->kernel;
  return nullptr;
}

Error Interpreter::at(const Expr& expr, Error error) const {
  if (!error.at) error.at = locate(expr.offset);
  return error;
}

const Value* Interpreter::find_variable(std::string_view name) const {
  const auto in = [&](const Frame& where) -> const Value* {
    const auto variable = where.variables.find(name);
    return variable == where.variables.end() ? nullptr : &variable->second;
  };
  const Frame* where = &frame();
  if (const Value* own = in(*where)) return own;
  // What a function assigns is its own from its first line on, as in Python.
  if (where->function != nullptr && where->function->locals.contains(name)) return nullptr;
  for (where = where->outer; where != nullptr; where = where->outer) {
    if (const Value* outer = in(*where)) return outer;
  }
  return in(*frame().file);
}

const Value* Interpreter::find_global(std::string_view name, const PlanProgram& file) const {
  const auto known = file_frames_.find(&file);
  if (known == file_frames_.end()) return nullptr;
  const auto variable = known->second->variables.find(name);
  return variable == known->second->variables.end() ? nullptr : &variable->second;
}

Result<Value> Interpreter::eval(const Expr& expr) {
  const Level level(depth_);
  if (level.too_deep()) return at(expr, bad_pass("the plan is nested too deeply").with_hint("plans need no recursion"));
  if (auto paid = state_.steps.charge(1); !paid) return at(expr, std::move(paid).error());
  Result<Value> result = eval_kind(expr);
  if (result && makes_values(expr.kind)) {
    if (auto paid = state_.steps.charge(size_of(*result)); !paid) return at(expr, std::move(paid).error());
  }
  if (!result) return at(expr, std::move(result).error());
  return result;
}

Result<Value> Interpreter::eval_kind(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Literal: return expr.value;
    case ExprKind::Name: return eval_name(expr);
    case ExprKind::Tuple:
    case ExprKind::List: return eval_sequence(expr);
    case ExprKind::Dict: return eval_dict(expr);
    case ExprKind::Compare: return eval_compare(expr);
    case ExprKind::Attribute: return eval_attribute(expr);
    case ExprKind::Subscript: return eval_subscript(expr);
    case ExprKind::Slice: return eval_slice(expr);
    case ExprKind::Call: return eval_call(expr);
    case ExprKind::Comprehension:
    case ExprKind::DictComprehension: return eval_comprehension(expr);
    case ExprKind::Formatted: return eval_formatted(expr);
    case ExprKind::Format: return eval_format(expr);
    case ExprKind::Star: return bad_pass("outside the plan language: found '*' before a single value");
    case ExprKind::Lambda: frame().is_kept = true; return Value(FunctionValue{expr.function, &frame()});
    default: break;
  }
  PASSNET_TRY(Value first, eval(*expr.children[0]));
  if (expr.kind == ExprKind::Unary) {
    calling_ = &expr;
    return unary(expr.op, first);
  }
  if (expr.kind == ExprKind::Binary) {
    PASSNET_TRY(const Value second, eval(*expr.children[1]));
    calling_ = &expr;
    return binary(expr.op, first, second);
  }
  PASSNET_TRY(const bool decided, truth(first));
  if (expr.kind == ExprKind::Conditional) return eval(*expr.children[decided ? 1 : 2]);
  if (decided == (expr.kind == ExprKind::Or)) return first;  // short circuit
  return eval(*expr.children[1]);
}

Result<Value> Interpreter::eval_name(const Expr& expr) {
  const size_t looks = frame().outers + 1;  // besides that of the expression
  PASSNET_TRY_VOID(state_.steps.charge(frame().outers + looks * text_steps(expr.name.size())));
  if (const Value* value = find_variable(expr.name)) return *value;
  const Function* function = frame().function;
  const bool is_assigned =
      (function != nullptr && function->locals.contains(expr.name)) || frame().program->names.contains(expr.name);
  if (is_assigned) return bad_pass(fmt::format("variable {} is read before it is assigned", quoted(expr.name)));
  if (const Builtin* builtin = find_function(expr.name)) return Value(BuiltinValue{builtin});
  if (auto known = find_constant(expr.name)) return *std::move(known);
  if (is_module(expr.name)) return Value(ModuleValue{std::string(expr.name)});
  const std::set<std::string_view>& names = frame().program->names;
  PASSNET_TRY_VOID(state_.steps.charge(kStepsToCompare * names.size()));
  return bad_pass(fmt::format("name {} is not defined", quoted(expr.name)))
      .with_hint(did_you_mean(expr.name, {names.begin(), names.end()}));
}

/// The values, and those that stand for several.
Result<std::vector<Value>> Interpreter::eval_items(std::span<const Expr* const> exprs) {
  std::vector<Value> items;
  for (const Expr* expr : exprs) {
    if (expr->kind != ExprKind::Star) {
      PASSNET_TRY(Value item, eval(*expr));
      PASSNET_TRY_VOID(state_.steps.charge(extra_steps(item)));
      items.push_back(std::move(item));
      continue;
    }
    PASSNET_TRY(const Value several, eval(*expr->children[0]));
    const Sequence* sequence = get_sequence(several);
    if (!sequence) return at(*expr, bad_pass(fmt::format("'*' takes a tuple or a list, found {}", describe(several))));
    PASSNET_TRY(std::vector<Value> spread, copy_values(sequence->items, state_.steps));
    std::ranges::move(spread, std::back_inserter(items));
    if (items.size() > kMaxSequenceItems)
      return at(*expr, bad_pass(fmt::format("sequence too long: more than {} items", kMaxSequenceItems)));
  }
  return items;
}

Result<Value> Interpreter::eval_sequence(const Expr& expr) {
  PASSNET_TRY(std::vector<Value> items, eval_items(expr.children));
  return make_sequence(expr.kind == ExprKind::List, std::move(items));
}

Result<Value> Interpreter::eval_dict(const Expr& expr) {
  std::vector<std::pair<Value, Value>> items;
  for (size_t i = 0; i + 1 < expr.children.size(); i += 2) {
    PASSNET_TRY(Value key, eval(*expr.children[i]));
    PASSNET_TRY(Value value, eval(*expr.children[i + 1]));
    items.emplace_back(std::move(key), std::move(value));
  }
  return make_dict(items, state_.steps);
}

Result<Value> Interpreter::eval_format(const Expr& expr) {
  std::string text;
  for (const Expr* piece : expr.children) {
    PASSNET_TRY(const Value value, eval(*piece));
    PASSNET_TRY(const std::string part, to_text(value, state_.steps));
    text += part;
    PASSNET_TRY_VOID(check_string(text.size()));
  }
  return Value(std::move(text));
}

Result<Value> Interpreter::eval_formatted(const Expr& expr) {
  PASSNET_TRY(const Value value, eval(*expr.children[0]));
  std::string_view form = expr.name;
  PASSNET_TRY(std::string text, to_text(value, state_.steps));
  if (form.starts_with("!")) {
    if (form.starts_with("!r") && get_if<std::string>(value)) text = "'" + text + "'";
    form.remove_prefix(std::min<size_t>(2, form.size()));
  }
  if (form.size() < 2) return Value(std::move(text));
  size_t digits = 0;  // of a width: what it fills is made before its size is known
  for (const char c : form) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    if (digits > 2) return bad_pass(fmt::format("format {} is too wide", quoted(form)));
  }
  // fmt has Python's mini-language but for what plans do not need.
  try {
    const std::string field = fmt::format("{{{}}}", form);
    if (const auto number = as_int(value)) return Value(fmt::format(fmt::runtime(field), *number));
    if (const auto real = as_float(value)) return Value(fmt::format(fmt::runtime(field), *real));
    return Value(fmt::format(fmt::runtime(field), text));
  } catch (const fmt::format_error&) {
    return bad_pass(fmt::format("format {} does not fit {}", quoted(form), describe(value)));
  }
}

Result<Value> Interpreter::eval_compare(const Expr& expr) {
  PASSNET_TRY(Value left, eval(*expr.children[0]));
  for (size_t i = 0; i < expr.operators.size(); ++i) {
    PASSNET_TRY(Value right, eval(*expr.children[i + 1]));
    calling_ = &expr;
    PASSNET_TRY(const Value holds, binary(expr.operators[i], left, right));
    if (!get_if<bool>(holds) && expr.operators.size() == 1) return holds;
    if (!get_if<bool>(holds)) return bad_pass("a chain of comparisons asks for the truth of a tensor's data");
    if (!std::get<bool>(holds)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Interpreter::eval_attribute(const Expr& expr) {
  PASSNET_TRY(const Value object, eval(*expr.children[0]));
  return attribute_of(object, expr.name);
}

namespace {

Result<Value> name_of(const Value& object) {
  std::string_view name;
  if (const auto* function = get_if<FunctionValue>(object)) name = function->function->name;
  if (const auto* builtin = get_if<BuiltinValue>(object)) name = builtin->builtin->name;
  if (const auto* type = get_if<TypeValue>(object)) name = type->name;
  if (const auto* kernel = get_if<std::shared_ptr<const KernelObject>>(object)) name = (*kernel)->kernel->name;
  if (name.empty()) return bad_pass(fmt::format("{} has no name", describe(object)));
  return Value(std::string(name.substr(name.rfind('.') + 1)));
}

}  // namespace

Result<Value> Interpreter::attribute_of(const Value& object, std::string_view name) {
  if (name == "is_cuda" && get_if<View>(object)) return Value(state_.on_gpu);
  if (get_if<DeviceValue>(object) && name == "type") return Value(std::string(state_.on_gpu ? "cuda" : "cpu"));
  if (get_if<DeviceValue>(object) && name == "index") return state_.on_gpu ? Value(int64_t{0}) : Value(NoneValue{});
  if (const auto* module = get_if<ModuleValue>(object)) return module_attribute(*module, name);
  if (const void* identity = identity_of(object)) {
    if (const auto given = attributes_.find({identity, name}); given != attributes_.end()) return given->second;
  }
  // A method of all tensors: torch.Tensor.relu.
  if (const auto* type = get_if<TypeValue>(object); type != nullptr && type->name == "torch.Tensor")
    return Value(ModuleValue{"torch.Tensor." + std::string(name)});
  if (name == "__class__") return type_of(object);
  if (name == "__name__") return name_of(object);
  return get_attribute(object, name);
}

Result<Value> Interpreter::eval_subscript(const Expr& expr) {
  PASSNET_TRY(const Value object, eval(*expr.children[0]));
  PASSNET_TRY(const Value index, eval(*expr.children[1]));
  calling_ = &expr;
  return subscript_of(object, index);
}

namespace {

/// Whether an index holds positions as data: a tensor or a list, which no view can have.
bool looks_up(const Value& index) {
  const Sequence* several = get_sequence(index);
  if (several == nullptr || several->is_list) return several != nullptr || get_if<View>(index);
  return std::ranges::any_of(several->items, looks_up);
}

}  // namespace

Result<Value> Interpreter::subscript_of(const Value& object, const Value& at) {
  if (const Sequence* sequence = get_sequence(object)) return index_sequence(*sequence, at, state_.steps);
  if (const Dict* dict = get_dict(object)) {
    PASSNET_TRY(const Value* found, find_key(*dict, at, state_.steps));
    if (found == nullptr) return raise("KeyError", fmt::format("the dict has no key {}", describe(at)));
    return *found;
  }
  if (const auto* text = get_if<std::string>(object)) return index_text(*text, at, state_.steps);
  if (const auto* kernel = get_if<std::shared_ptr<const KernelObject>>(object)) {
    PASSNET_TRY(Value grid, keep_grid(at, 0));
    return Value(std::make_shared<const Launcher>(Launcher{*kernel, std::move(grid)}));
  }
  const auto* view = get_if<View>(object);
  if (!view) return bad_pass(fmt::format("cannot index {}", describe(object)));
  const Sequence* several = get_sequence(at);
  if (state_.allow_library && looks_up(at)) return call_library(ir::NodeKind::Operator, "getitem", {{object, at}, {}});
  PASSNET_TRY(View result, index(*view, several && !several->is_list ? several->items : std::vector<Value>{at}));
  return Value(std::move(result));
}

Result<Value> Interpreter::eval_slice(const Expr& expr) {
  SliceValue slice;
  std::optional<int64_t>* const parts[] = {&slice.start, &slice.stop, &slice.step};
  for (size_t i = 0; i < 3; ++i) {
    if (!expr.children[i]) continue;
    PASSNET_TRY(const Value value, eval(*expr.children[i]));
    if (get_if<NoneValue>(value)) continue;
    const auto number = as_int(value);
    if (!number) {
      return at(*expr.children[i],
                bad_pass(fmt::format("slice bound: found {}, expected an integer", describe(value))));
    }
    *parts[i] = *number;
  }
  return Value(slice);
}

Result<Value> Interpreter::eval_comprehension(const Expr& expr) {
  // Its variables exist only inside: what they hide comes back afterwards.
  std::set<std::string_view> names;
  for (size_t i = 1; i < expr.children.size(); ++i) collect_targets(*expr.children[i]->children[0], names);
  PASSNET_TRY_VOID(state_.steps.charge(4 * names.size()));
  std::vector<std::pair<std::string_view, Value>> hidden;
  for (std::string_view name : names) {
    const auto variable = frame().variables.find(name);
    if (variable != frame().variables.end()) hidden.emplace_back(name, variable->second);
  }
  std::vector<Value> elements;
  const Result<void> evaluated = comprehend(expr, 1, elements);
  for (std::string_view name : names) frame().variables.erase(name);
  for (auto& [name, value] : hidden) frame().variables.insert_or_assign(name, std::move(value));
  PASSNET_TRY_VOID(evaluated);
  if (expr.kind == ExprKind::Comprehension) return make_sequence(true, std::move(elements));
  std::vector<std::pair<Value, Value>> pairs;
  for (const Value& item : elements) pairs.emplace_back(get_sequence(item)->items[0], get_sequence(item)->items[1]);
  return make_dict(pairs, state_.steps);
}

Result<std::vector<Value>> Interpreter::items_of(const Value& iterable, const Expr& expr) {
  if (const Sequence* sequence = get_sequence(iterable)) return copy_values(sequence->items, state_.steps);
  if (const Dict* dict = get_dict(iterable)) return keys_of(*dict, state_.steps);
  const auto* text = get_if<std::string>(iterable);
  if (text == nullptr)
    return at(expr, bad_pass(fmt::format("cannot loop over {}", describe(iterable)))
                        .with_hint("loop over range, zip, enumerate, a tuple, a list or a dict"));
  PASSNET_TRY_VOID(state_.steps.charge(text->size()));
  std::vector<Value> items;
  for (const char letter : *text) items.emplace_back(std::string(1, letter));
  return items;
}

Result<void> Interpreter::comprehend(const Expr& expr, size_t clause, std::vector<Value>& elements) {
  if (clause == expr.children.size()) {
    PASSNET_TRY(Value value, eval(*expr.children[0]));
    elements.push_back(std::move(value));
    return {};
  }
  const std::vector<const Expr*>& parts = expr.children[clause]->children;
  PASSNET_TRY(const Value iterable, eval(*parts[1]));
  PASSNET_TRY(const std::vector<Value> items, items_of(iterable, *parts[1]));
  for (const Value& item : items) {
    PASSNET_TRY_VOID(assign(*parts[0], item));
    bool wanted = true;
    for (size_t i = 2; wanted && i < parts.size(); ++i) {
      PASSNET_TRY(const Value condition, eval(*parts[i]));
      PASSNET_TRY(wanted, truth(condition));
    }
    if (wanted) PASSNET_TRY_VOID(comprehend(expr, clause + 1, elements));
  }
  return {};
}

}  // namespace passnet::pass
