// Calls of a plan: of its own functions, and of those that plans may use.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "pass/plan/interpret/interpreter.h"
#include "pass/plan/syntax/check.h"

namespace passnet::pass {

namespace {

constexpr size_t kCallSteps = 8;  // of a frame that a call makes

}  // namespace

Result<CallArguments> Interpreter::eval_arguments(const Expr& call) {
  CallArguments arguments;
  PASSNET_TRY(arguments.positional, eval_items(std::span(call.children).subspan(1)));
  for (const KeywordExpr& keyword : call.keywords) {
    PASSNET_TRY(Value value, eval(*keyword.value));
    PASSNET_TRY_VOID(state_.steps.charge(extra_steps(value)));
    if (!keyword.name.empty()) {
      arguments.keywords.emplace_back(keyword.name, std::move(value));
      continue;
    }
    const Dict* several = get_dict(value);
    if (several == nullptr)
      return at(*keyword.value, bad_pass(fmt::format("'**' takes a dict, found {}", describe(value))));
    for (const auto& [name, item] : several->items) {
      const auto* text = get_if<std::string>(name);
      if (text == nullptr)
        return at(*keyword.value, bad_pass(fmt::format("name of an argument: found {}", describe(name))));
      PASSNET_TRY_VOID(state_.steps.charge(2 + text_steps(text->size()) + extra_steps(item)));
      arguments.keywords.emplace_back(state_.intern(*text), item);
    }
  }
  if (arguments.positional.size() + arguments.keywords.size() > kMaxSequenceItems)
    return bad_pass(fmt::format("more than {} arguments", kMaxSequenceItems));
  return arguments;
}

Result<Value> Interpreter::eval_call(const Expr& expr) {
  const Expr& callee = *expr.children[0];
  if (callee.kind == ExprKind::Subscript) return eval_subscript_call(expr);
  if (callee.kind == ExprKind::Attribute) {
    PASSNET_TRY(const Value object, eval(*callee.children[0]));
    if (const auto* kernel = get_if<std::shared_ptr<const KernelObject>>(object); kernel && callee.name == "run")
      return run_kernel(*kernel, expr);
    if (!get_if<ModuleValue>(object) && find_method(object, callee.name)) return call_method(object, callee, expr);
    if (get_if<View>(object) && may_call_library(ir::NodeKind::CallMethod, callee.name)) {
      PASSNET_TRY(CallArguments arguments, eval_arguments(expr));
      arguments.positional.insert(arguments.positional.begin(), object);
      calling_ = &expr;
      return call_library(ir::NodeKind::CallMethod, callee.name, arguments);
    }
    PASSNET_TRY(const Value function, attribute_to_call(object, callee.name));
    return call_with(function, expr);
  }
  PASSNET_TRY(const Value function, eval(callee));
  return call_with(function, expr);
}

/// Calls what the callee of `expr` is with the arguments that stand there.
Result<Value> Interpreter::call_with(const Value& function, const Expr& expr) {
  PASSNET_TRY(CallArguments arguments, eval_arguments(expr));
  calling_ = &expr;
  return call(function, std::move(arguments));
}

/// `kernel[grid](…)`, or a call of what `container[index]` holds.
Result<Value> Interpreter::eval_subscript_call(const Expr& expr) {
  const Expr& subscript = *expr.children[0];
  const Expr& object = *subscript.children[0];
  if (object.kind == ExprKind::Name && is_kernel_beside(object.name)) return launch_beside(expr);
  PASSNET_TRY(const Value value, eval(object));
  PASSNET_TRY(const Value index, eval(*subscript.children[1]));
  calling_ = &subscript;
  PASSNET_TRY(const Value function, subscript_of(value, index));
  return call_with(function, expr);
}

/// A name that the file does not define: a kernel of the source beside the pass.
bool Interpreter::is_kernel_beside(std::string_view name) const {
  const Function* function = frame().function;
  return find_variable(name) == nullptr && !frame().program->names.contains(name) &&
         (function == nullptr || !function->locals.contains(name)) && find_function(name) == nullptr;
}

Result<Value> Interpreter::attribute_to_call(const Value& object, std::string_view name) {
  const bool may_have = get_if<ModuleValue>(object) || identity_of(object) != nullptr;
  if (may_have) return attribute_of(object, name);
  Error error = bad_pass(fmt::format("{} has no method '{}'", describe(object), name));
  if (get_if<View>(object) && is_library_call(ir::NodeKind::CallMethod, name))
    return std::move(error).with_failure("library-call").with_hint(std::string(kLibraryHint));
  return error;
}

Result<Value> Interpreter::call_method(const Value& object, const Expr& callee, const Expr& expr) {
  PASSNET_TRY(CallArguments arguments, eval_arguments(expr));
  arguments.positional.insert(arguments.positional.begin(), object);
  return call_builtin(*find_method(object, callee.name), std::move(arguments));
}

Result<Value> Interpreter::call_builtin(const Builtin& builtin, CallArguments arguments) {
  PASSNET_TRY(const Bound bound, bind_arguments(builtin.name, signature_of(builtin), std::move(arguments)));
  return builtin.call != nullptr ? builtin.call(state_, bound) : call_special(builtin.name, bound);
}

Result<Value> Interpreter::call(const Value& callee, CallArguments arguments) {
  if (const auto* function = get_if<FunctionValue>(callee)) return call_function(*function, std::move(arguments));
  if (const auto* builtin = get_if<BuiltinValue>(callee); builtin && builtin->builtin->name == "functools.partial")
    return bind_launcher(std::move(arguments));
  if (const auto* builtin = get_if<BuiltinValue>(callee)) return call_builtin(*builtin->builtin, std::move(arguments));
  if (const auto* type = get_if<TypeValue>(callee)) return make_of_type(state_, *type, arguments);
  if (const auto* module = get_if<ModuleValue>(callee)) {
    if (may_call_library(ir::NodeKind::CallFunction, module->name))
      return call_library(ir::NodeKind::CallFunction, module->name, arguments);
    Error error = outside_language(fmt::format("outside the plan language: found {}", quoted(module->name + "()")),
                                   module->name, false);
    if (error.hint.empty()) error.hint = "see docs/plan-language.md for what a plan may use";
    return error;
  }
  if (const auto* launcher = get_if<std::shared_ptr<const Launcher>>(callee))
    return launch(**launcher, std::move(arguments));
  if (get_if<std::shared_ptr<const KernelObject>>(callee)) {
    return bad_pass("a kernel is launched as 'kernel[grid](…)', not called");
  }
  return raise("TypeError", fmt::format("cannot call {}", describe(callee)));
}

namespace {

/// Takes the keywords that no parameter has: those of `**name`.
std::vector<std::pair<std::string_view, Value>> take_unknown(const Function& function, CallArguments& arguments) {
  std::vector<std::pair<std::string_view, Value>> known, rest;
  for (auto& keyword : arguments.keywords) {
    const bool is_known = std::ranges::any_of(function.parameters, [&](const Parameter& parameter) {
      return parameter.name == keyword.first && parameter.kind == ParameterKind::Plain;
    });
    (is_known ? known : rest).push_back(std::move(keyword));
  }
  arguments.keywords = std::move(known);
  return rest;
}

}  // namespace

Result<Value> Interpreter::call_function(const FunctionValue& callee, CallArguments arguments) {
  const Function& function = *callee.function;
  if (function.is_graph) return bad_pass(fmt::format("function {} is a graph, not a plan", quoted(function.name)));
  if (frames_.size() > kMaxCallDepth) {
    return bad_pass(fmt::format("more than {} calls inside each other", kMaxCallDepth))
        .with_hint("plans need no recursion");
  }
  const size_t given = arguments.positional.size() + arguments.keywords.size(), taken = function.parameters.size();
  PASSNET_TRY_VOID(state_.steps.charge(kCallSteps + taken + given * taken / 16));
  auto made = std::make_unique<Frame>();
  made->program = callee.frame->program;
  made->function = &function;
  made->file = callee.frame->file;
  made->outer = callee.frame->function != nullptr ? callee.frame : nullptr;
  made->outers = made->outer != nullptr ? made->outer->outers + 1 : 0;
  CallArguments rest;
  const Parameter* last = function.parameters.empty() ? nullptr : &function.parameters.back();
  if (last != nullptr && last->kind == ParameterKind::Keywords) rest.keywords = take_unknown(function, arguments);
  PASSNET_TRY(Bound bound, bind_arguments(function.name, signature_of(function.parameters), std::move(arguments)));
  frames_.push_back(made.get());  // defaults are names of the file where the function stands
  const auto end_call = [&] {
    while (frames_.back() != made.get()) frames_.pop_back();
    frames_.pop_back();
    if (made->is_kept) kept_.push_back(std::move(made));
  };
  Result<void> begun = begin_call(function, bound, rest);
  Result<Flow> flow = begun ? run(function.body) : Result<Flow>(std::move(begun).error());
  if (!flow) {
    if (!flow.error().at) {
      Error error = std::move(flow).error();
      error.at = locate(function.offset);
      end_call();
      return error;
    }
    end_call();
    return std::move(flow).error();
  }
  if (*flow != Flow::Return) returned_at_ = locate(function.offset);
  Value result = std::move(made->result);
  end_call();
  return result;
}

Result<void> Interpreter::begin_call(const Function& function, Bound& bound, const CallArguments& rest) {
  for (size_t i = 0; i < bound.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (parameter.kind == ParameterKind::Keywords) {
      std::vector<std::pair<Value, Value>> items;
      for (const auto& [name, value] : rest.keywords) items.emplace_back(std::string(name), value);
      PASSNET_TRY(bound[i], make_dict(items, state_.steps));
    }
    if (!bound[i] && parameter.kind == ParameterKind::Variadic) bound[i] = make_shape({});
    if (!bound[i]) {
      PASSNET_TRY(bound[i], eval(*parameter.default_value));
    }
    frame().variables.insert_or_assign(parameter.name, *std::move(bound[i]));
  }
  return {};
}

}  // namespace passnet::pass
