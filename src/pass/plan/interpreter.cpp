#include "pass/plan/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/python_number.h"
#include "base/strings.h"
#include "pass/plan/check.h"
#include "pass/plan/tensor.h"

namespace passnet::pass {

namespace {

size_t weight_of(const Value& value) {
  const Dict* dict = get_dict(value);
  const Sequence* sequence = get_sequence(value);
  return sequence ? sequence->weight : dict ? dict->weight : size_of(value);
}

bool makes_values(ExprKind kind) {
  return kind != ExprKind::Literal && kind != ExprKind::Name && kind != ExprKind::Lambda;
}

Result<Value> index_sequence(const Sequence& sequence, const Value& index) {
  const auto size = static_cast<int64_t>(sequence.items.size());
  if (const auto at = as_int(index)) {
    if (*at < -size || *at >= size) {
      return bad_pass(fmt::format("index out of range: found {}, the {} has {} item{}", *at,
                                  sequence.is_list ? "list" : "tuple", size, size == 1 ? "" : "s"));
    }
    return sequence.items[static_cast<size_t>(*at < 0 ? *at + size : *at)];
  }
  const auto* slice = get_if<SliceValue>(index);
  if (!slice) return bad_pass(fmt::format("cannot index a sequence with {}", describe(index)));
  const int64_t step = slice->step.value_or(1);
  if (step == 0) return bad_pass("slice step 0");
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
  const int64_t start = slice->start ? clamp(*slice->start) : (step > 0 ? low : high);
  const int64_t stop = slice->stop ? clamp(*slice->stop) : (step > 0 ? high : low);
  std::vector<Value> items;
  for (std::optional<int64_t> at = start; at && (step > 0 ? *at < stop : *at > stop); at = python::add(*at, step)) {
    items.push_back(sequence.items[static_cast<size_t>(*at)]);
  }
  return make_sequence(sequence.is_list, std::move(items));
}

Result<Value> index_meta(const MetaValue& meta, const Value& index) {
  const auto* name = get_if<std::string>(index);
  if (!name) return bad_pass(fmt::format("launch constants are read by name, found {}", describe(index)));
  for (const NamedConstant& constant : *meta.constants) {
    if (constant.name == *name) return std::visit([](auto value) { return Value(value); }, constant.value);
  }
  return bad_pass(fmt::format("the launch has no constant {}", quoted(*name)));
}

}  // namespace

size_t size_of(const Value& value) {
  if (const Sequence* sequence = get_sequence(value)) return sequence->items.size();
  if (const Dict* dict = get_dict(value)) return dict->items.size();
  if (const auto* text = get_if<std::string>(value)) return text->size() / 8;
  const auto* view = get_if<View>(value);
  return view ? view->type.shape.size() : 0;
}

Error Interpreter::at(const Expr& expr, Error error) const {
  if (!error.at) error.at = program_.locate(expr.offset);
  return error;
}

const Value* Interpreter::find_variable(std::string_view name) const {
  for (const Frame* frame : {&frames_.back(), &frames_.front()}) {
    if (const auto variable = frame->variables.find(name); variable != frame->variables.end()) return &variable->second;
  }
  return nullptr;
}

std::string Interpreter::module_name(const Expr& expr) const {
  std::string name = dotted_name(expr);
  return find_variable(std::string_view(name).substr(0, name.find('.'))) ? std::string() : name;
}

Result<void> Interpreter::evaluate_constants() {
  for (const ModuleConstant& constant : program_.constants) {
    PASSNET_TRY(Value value, eval(*constant.expr));
    frames_.front().variables.insert_or_assign(constant.name, std::move(value));
  }
  return {};
}

Result<Value> Interpreter::eval(const Expr& expr) {
  const Level level(depth_);
  if (level.too_deep()) return at(expr, bad_pass("the plan is nested too deeply").with_hint("plans need no recursion"));
  if (auto paid = charge(state_, 1); !paid) return at(expr, std::move(paid).error());
  Result<Value> result = eval_kind(expr);
  if (result && makes_values(expr.kind)) {
    if (auto paid = charge(state_, size_of(*result)); !paid) return at(expr, std::move(paid).error());
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
    case ExprKind::Comprehension: return eval_comprehension(expr);
    case ExprKind::Format: return eval_format(expr);
    case ExprKind::Star: return bad_pass("outside the plan language: found '*' before a single value");
    case ExprKind::Lambda: return Value(LambdaValue{&expr, frames_.back().serial});
    default: break;
  }
  PASSNET_TRY(Value first, eval(*expr.children[0]));
  if (expr.kind == ExprKind::Unary) return apply_unary(expr.op, first);
  if (expr.kind == ExprKind::Binary) {
    PASSNET_TRY(const Value second, eval(*expr.children[1]));
    return apply_binary(expr.op, first, second);
  }
  PASSNET_TRY(const bool decided, truth(first));
  if (expr.kind == ExprKind::Conditional) return eval(*expr.children[decided ? 1 : 2]);
  if (decided == (expr.kind == ExprKind::Or)) return first;  // short circuit
  return eval(*expr.children[1]);
}

Result<Value> Interpreter::eval_name(const Expr& expr) {
  if (const Value* value = find_variable(expr.name)) return *value;
  return bad_pass(fmt::format("variable {} is read before it is assigned", quoted(expr.name)));
}

/// The values, and those that stand for several.
Result<std::vector<Value>> Interpreter::eval_items(std::span<const Expr* const> exprs) {
  std::vector<Value> items;
  for (const Expr* expr : exprs) {
    if (expr->kind != ExprKind::Star) {
      PASSNET_TRY(Value item, eval(*expr));
      PASSNET_TRY_VOID(charge(state_, size_of(item)));
      items.push_back(std::move(item));
      continue;
    }
    PASSNET_TRY(const Value several, eval(*expr->children[0]));
    const Sequence* sequence = get_sequence(several);
    if (!sequence) return at(*expr, bad_pass(fmt::format("'*' takes a tuple or a list, found {}", describe(several))));
    PASSNET_TRY_VOID(charge(state_, sequence->weight));
    items.insert(items.end(), sequence->items.begin(), sequence->items.end());
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
  PASSNET_TRY_VOID(charge(state_, items.size() * items.size()));  // each key is compared with those before
  return make_dict(items);
}

Result<Value> Interpreter::eval_format(const Expr& expr) {
  std::string text;
  for (const Expr* piece : expr.children) {
    PASSNET_TRY(const Value value, eval(*piece));
    PASSNET_TRY(const std::string part, to_text(value));
    text += part;
    PASSNET_TRY_VOID(check_string(text.size()));
  }
  return Value(std::move(text));
}

Result<Value> Interpreter::eval_compare(const Expr& expr) {
  PASSNET_TRY(Value left, eval(*expr.children[0]));
  for (size_t i = 0; i < expr.operators.size(); ++i) {
    PASSNET_TRY(Value right, eval(*expr.children[i + 1]));
    PASSNET_TRY_VOID(charge(state_, weight_of(left) + weight_of(right)));
    PASSNET_TRY(const Value holds, apply_binary(expr.operators[i], left, right));
    if (!std::get<bool>(holds)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Interpreter::eval_attribute(const Expr& expr) {
  if (const std::string name = module_name(expr); !name.empty()) {
    if (auto constant = find_constant(name)) return *std::move(constant);
    return bad_pass(fmt::format("outside the plan language: found {}", quoted(name)));
  }
  PASSNET_TRY(const Value object, eval(*expr.children[0]));
  if (expr.name == "is_cuda" && get_if<View>(object)) return Value(state_.on_gpu);
  return get_attribute(object, expr.name);
}

Result<Value> Interpreter::eval_subscript(const Expr& expr) {
  PASSNET_TRY(const Value object, eval(*expr.children[0]));
  PASSNET_TRY(const Value at, eval(*expr.children[1]));
  if (const Sequence* sequence = get_sequence(object)) return index_sequence(*sequence, at);
  if (const auto* meta = get_if<MetaValue>(object)) return index_meta(*meta, at);
  if (const Dict* dict = get_dict(object)) {
    PASSNET_TRY_VOID(charge(state_, dict->items.size()));
    PASSNET_TRY(const Value* found, find_key(*dict, at));
    if (found == nullptr) return bad_pass(fmt::format("the dict has no key {}", describe(at)));
    return *found;
  }
  const auto* view = get_if<View>(object);
  if (!view) return bad_pass(fmt::format("cannot index {}", describe(object)));
  const Sequence* several = get_sequence(at);
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
  PASSNET_TRY(const Value iterable, eval(*expr.children[2]));
  const Sequence* sequence = get_sequence(iterable);
  if (!sequence) return at(*expr.children[2], bad_pass(fmt::format("cannot loop over {}", describe(iterable))));
  // Its variables exist only inside: what they hide comes back afterwards.
  std::set<std::string_view> names;
  collect_targets(*expr.children[1], names);
  std::vector<std::pair<std::string_view, Value>> hidden;
  for (std::string_view name : names) {
    const auto variable = frames_.back().variables.find(name);
    if (variable != frames_.back().variables.end()) hidden.emplace_back(name, variable->second);
  }
  Result<Value> result = comprehend(expr, *sequence);
  for (std::string_view name : names) frames_.back().variables.erase(name);
  for (auto& [name, value] : hidden) frames_.back().variables.insert_or_assign(name, std::move(value));
  return result;
}

Result<Value> Interpreter::comprehend(const Expr& expr, const Sequence& sequence) {
  std::vector<Value> items;
  for (const Value& item : sequence.items) {
    PASSNET_TRY_VOID(assign(*expr.children[1], item));
    bool wanted = true;
    for (size_t i = 3; wanted && i < expr.children.size(); ++i) {
      PASSNET_TRY(const Value condition, eval(*expr.children[i]));
      PASSNET_TRY(wanted, truth(condition));
    }
    if (!wanted) continue;
    PASSNET_TRY(Value value, eval(*expr.children[0]));
    items.push_back(std::move(value));
  }
  return make_sequence(true, std::move(items));
}

Result<CallArguments> Interpreter::eval_arguments(const Expr& call) {
  CallArguments arguments;
  PASSNET_TRY(arguments.positional, eval_items(std::span(call.children).subspan(1)));
  for (const KeywordExpr& keyword : call.keywords) {
    PASSNET_TRY(Value value, eval(*keyword.value));
    PASSNET_TRY_VOID(charge(state_, size_of(value)));
    arguments.keywords.emplace_back(keyword.name, std::move(value));
  }
  return arguments;
}

Result<Value> Interpreter::eval_call(const Expr& expr) {
  const Expr& callee = *expr.children[0];
  if (const Expr* kernel = launched_kernel(expr)) return launch(expr, *kernel);
  const Builtin* builtin = nullptr;
  std::optional<Value> object;
  if (callee.kind == ExprKind::Name) {
    const auto function = program_.functions.find(callee.name);
    if (function != program_.functions.end()) {
      PASSNET_TRY(CallArguments arguments, eval_arguments(expr));
      return call(function->second, std::move(arguments));
    }
    builtin = find_function(callee.name);
  } else if (const std::string name = module_name(callee); !name.empty()) {
    builtin = find_function(name);
  } else if (callee.kind == ExprKind::Attribute) {
    PASSNET_TRY(object, eval(*callee.children[0]));
    builtin = find_method(*object, callee.name);
    if (!builtin) return bad_pass(fmt::format("{} has no method '{}'", describe(*object), callee.name));
  }
  if (!builtin) return bad_pass("outside the plan language: found a call of an unknown function");
  PASSNET_TRY(CallArguments arguments, eval_arguments(expr));
  if (object) arguments.positional.insert(arguments.positional.begin(), *std::move(object));
  PASSNET_TRY(const Bound bound, bind_arguments(builtin->name, signature_of(*builtin), std::move(arguments)));
  return builtin->call(state_, bound);
}

Result<Value> Interpreter::call(const Function& function, CallArguments arguments) {
  if (frames_.size() > kMaxCallDepth) {
    return bad_pass(fmt::format("more than {} calls inside each other", kMaxCallDepth))
        .with_hint("plans need no recursion");
  }
  Frame frame;
  frame.serial = next_serial_++;
  PASSNET_TRY(Bound bound, bind_arguments(function.name, signature_of(function.parameters), std::move(arguments)));
  for (size_t i = 0; i < bound.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (!bound[i] && parameter.is_variadic) bound[i] = make_shape({});
    if (!bound[i]) {
      PASSNET_TRY(bound[i], eval(*parameter.default_value));
    }
    frame.variables.insert_or_assign(parameter.name, *std::move(bound[i]));
  }
  frames_.push_back(std::move(frame));
  PASSNET_TRY(const Flow flow, run(function.body));
  if (flow != Flow::Return) return_offset_ = function.offset;
  Value result = std::move(frames_.back().result);
  frames_.pop_back();
  return result;
}

}  // namespace passnet::pass
