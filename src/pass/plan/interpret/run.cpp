// Statements of a plan, run one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/strings.h"
#include "pass/plan/interpret/interpreter.h"
#include "pass/plan/syntax/check.h"

namespace passnet::pass {

namespace {

constexpr size_t kCatchSteps = 16;  // of an error that is made, handed up and taken

/// Whether `except handler:` takes an exception, by the types that plans can meet.
bool takes(std::string_view handler, std::string_view raised) {
  struct Kin {
    std::string_view type, base;
  };
  constexpr std::array<Kin, 6> kKin{{{"ModuleNotFoundError", "ImportError"},
                                     {"KeyError", "LookupError"},
                                     {"IndexError", "LookupError"},
                                     {"NotImplementedError", "RuntimeError"},
                                     {"RecursionError", "RuntimeError"},
                                     {"ZeroDivisionError", "ArithmeticError"}}};
  if (handler == raised || handler == "Exception" || handler == "BaseException") return true;
  return std::ranges::any_of(kKin, [&](const Kin& kin) { return kin.type == raised && kin.base == handler; });
}

}  // namespace

Result<Interpreter::Flow> Interpreter::run(const std::vector<Statement>& body) {
  const Level level(depth_);
  for (const Statement& statement : body) {
    if (level.too_deep()) return bad_pass("the plan is nested too deeply", locate(statement.offset));
    auto paid = state_.steps.charge(1);
    Result<Flow> flow = paid ? run(statement) : Result<Flow>(std::move(paid).error());
    if (!flow) {
      Error error = std::move(flow).error();
      if (!error.at) error.at = locate(statement.offset);
      return error;
    }
    if (*flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::run(const Statement& statement) {
  if (statement.builds_graph) {
    for (const Expr* target : statement.targets)
      if (target->kind == ExprKind::Name) PASSNET_TRY_VOID(assign(*target, ModuleValue{"torch.fx.Graph"}));
    if (statement.kind != StatementKind::Return) return Flow::Next;
    frame().result = ModuleValue{"torch.fx.Graph"};
    return Flow::Return;
  }
  switch (statement.kind) {
    case StatementKind::Break: return Flow::Break;
    case StatementKind::Continue: return Flow::Continue;
    case StatementKind::For: return run_for(statement);
    case StatementKind::While: return run_while(statement);
    case StatementKind::Try: return run_try(statement);
    case StatementKind::With: return run_with(statement);
    case StatementKind::Raise: PASSNET_TRY_VOID(run_raise(statement)); return Flow::Next;
    case StatementKind::Assert: PASSNET_TRY_VOID(check_assert(statement)); return Flow::Next;
    case StatementKind::AugmentAssign: PASSNET_TRY_VOID(run_augmented(statement)); return Flow::Next;
    case StatementKind::Import: PASSNET_TRY_VOID(run_import(statement)); return Flow::Next;
    case StatementKind::DefineKernel: PASSNET_TRY_VOID(define_kernel(statement)); return Flow::Next;
    case StatementKind::Delete: PASSNET_TRY_VOID(run_delete(statement)); return Flow::Next;
    case StatementKind::Class:
      PASSNET_TRY_VOID(assign(*statement.targets[0], ModuleValue{"class " + std::string(statement.targets[0]->name)}));
      return Flow::Next;
    case StatementKind::Define:
      frame().is_kept = true;
      PASSNET_TRY_VOID(assign_name(statement.function->name, FunctionValue{statement.function, &frame()}));
      return Flow::Next;
    default: return run_simple(statement);
  }
}

Result<Interpreter::Flow> Interpreter::run_simple(const Statement& statement) {
  Value value;
  if (statement.value) {
    PASSNET_TRY(value, eval(*statement.value));
  }
  if (statement.kind == StatementKind::Return) {
    frame().result = std::move(value);
    returned_at_ = locate(statement.offset);
    return Flow::Return;
  }
  if (statement.kind == StatementKind::If) {
    PASSNET_TRY(const bool holds, truth(value));
    return run(holds ? statement.body : statement.otherwise);
  }
  for (const Expr* target : statement.targets) PASSNET_TRY_VOID(assign(*target, value));
  return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::run_for(const Statement& statement) {
  PASSNET_TRY(Value iterable, eval(*statement.value));
  if (get_sequence(iterable) == nullptr) {
    PASSNET_TRY(std::vector<Value> items, items_of(iterable, *statement.value));
    PASSNET_TRY(iterable, make_sequence(false, std::move(items)));
  }
  // The body may change the list that it goes over, and then sees that.
  const Sequence& sequence = *get_sequence(iterable);
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    PASSNET_TRY_VOID(state_.steps.charge(1 + extra_steps(sequence.items[i])));
    const Value item = sequence.items[i];
    PASSNET_TRY_VOID(assign(*statement.targets[0], item));
    PASSNET_TRY(const Flow flow, run(statement.body));
    if (flow == Flow::Break) break;
    if (flow == Flow::Return) return flow;
  }
  return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::run_while(const Statement& statement) {
  while (true) {
    PASSNET_TRY_VOID(state_.steps.charge(1));
    PASSNET_TRY(const Value condition, eval(*statement.value));
    PASSNET_TRY(const bool goes_on, truth(condition));
    if (!goes_on) return Flow::Next;
    PASSNET_TRY(const Flow flow, run(statement.body));
    if (flow == Flow::Break) return Flow::Next;
    if (flow == Flow::Return) return flow;
  }
}

Result<Interpreter::Flow> Interpreter::run_try(const Statement& statement) {
  Result<Flow> flow = run_guarded(statement);
  if (statement.finally.empty()) return flow;
  const std::optional<ExceptionValue> raised = raised_;
  PASSNET_TRY(const Flow last, run(statement.finally));
  raised_ = raised;
  return last == Flow::Next ? std::move(flow) : Result<Flow>(last);
}

/// What is outside the plan language is no exception: no handler takes it.
Result<Interpreter::Flow> Interpreter::run_guarded(const Statement& statement) {
  Frame* const here = frames_.back();
  Result<Flow> flow = run(statement.body);
  if (flow) return *flow == Flow::Next ? run(statement.otherwise) : flow;
  if (!raised_) return flow;
  for (const Handler& handler : statement.handlers) {
    const bool taken =
        handler.exceptions.empty() ||
        std::ranges::any_of(handler.exceptions, [&](std::string_view type) { return takes(type, raised_->type); });
    if (!taken) continue;
    PASSNET_TRY_VOID(state_.steps.charge(kCatchSteps));
    while (frames_.back() != here) frames_.pop_back();
    if (!handler.bound.empty()) PASSNET_TRY_VOID(assign_name(handler.bound, *raised_));
    const ExceptionValue caught = *std::exchange(raised_, std::nullopt);
    caught_.push_back(caught);
    flow = run(handler.body);
    caught_.pop_back();
    return flow;
  }
  return flow;
}

/// Streams, devices and gradients are the executor's: such contexts change nothing here.
Result<Interpreter::Flow> Interpreter::run_with(const Statement& statement) {
  PASSNET_TRY_VOID(eval(*statement.value));
  return run(statement.body);
}

Result<void> Interpreter::run_augmented(const Statement& statement) {
  const Expr& target = *statement.targets[0];
  PASSNET_TRY(const Value before, eval(target));
  PASSNET_TRY(const Value operand, eval(*statement.value));
  Sequence* list = get_sequence(before);
  const Sequence* more = get_sequence(operand);
  if (statement.op == Operator::Add && list != nullptr && list->is_list &&
      more != nullptr) {  // changes the list itself
    PASSNET_TRY(const std::vector<Value> items, copy_values(more->items, state_.steps));
    for (const Value& item : items) PASSNET_TRY_VOID(insert_item(*list, list->items.size(), item, state_.steps));
    return assign(target, before);
  }
  if (get_if<View>(before) && state_.allow_library)
    return bad_pass(fmt::format("outside the plan language: '{}=' overwrites a tensor", spelling(statement.op)))
        .with_hint(fmt::format("write 'x = x {} y', which gives a new tensor", spelling(statement.op)));
  PASSNET_TRY(const Value after, apply_binary(statement.op, before, operand, state_.steps));
  return assign(target, after);
}

/// An error that Python raises, too, and that `except` can take.
Error Interpreter::raise(std::string type, std::string text) {
  raised_ = ExceptionValue{std::move(type), text};
  return bad_pass(std::move(text));
}

Result<void> Interpreter::run_raise(const Statement& statement) {
  ExceptionValue raised;
  if (statement.value != nullptr) {
    PASSNET_TRY(const Value value, eval(*statement.value));
    const auto* given = get_if<ExceptionValue>(value);
    const auto* type = get_if<TypeValue>(value);
    if (given == nullptr && type == nullptr)
      return at(*statement.value, bad_pass(fmt::format("raise of {}, expected an exception", describe(value))));
    raised = given != nullptr ? *given : ExceptionValue{std::string(type->name), ""};
  } else if (!caught_.empty()) {
    raised = caught_.back();
  } else {
    return bad_pass("'raise' outside 'except' needs an exception");
  }
  std::string text = fmt::format("the plan raises {}", raised.type);
  if (!raised.text.empty()) text += ": " + raised.text;
  raised_ = std::move(raised);
  return bad_pass(std::move(text)).with_hint("to leave a site as it is, 'return NotImplemented'");
}

Result<void> Interpreter::check_assert(const Statement& statement) {
  PASSNET_TRY(const Value value, eval(*statement.value));
  PASSNET_TRY(const bool holds, truth(value));
  if (holds) return {};
  std::string text = "an assertion of the plan does not hold", said;
  if (statement.message) {
    PASSNET_TRY(const Value message, eval(*statement.message));
    const auto* words = get_if<std::string>(message);
    said = words ? *words : describe(message);
    text += ": " + said;
  }
  raised_ = ExceptionValue{"AssertionError", std::move(said)};
  return bad_pass(std::move(text)).with_hint("to leave a site as it is, 'return NotImplemented'");
}

Result<void> Interpreter::run_delete(const Statement& statement) {
  for (const Expr* target : statement.targets) {
    if (target->kind == ExprKind::Name) {
      frame().variables.erase(target->name);
      continue;
    }
    if (target->kind != ExprKind::Subscript)
      return at(*target, bad_pass("'del' takes a variable or an item of a dict"));
    PASSNET_TRY(const Value object, eval(*target->children[0]));
    PASSNET_TRY(const Value key, eval(*target->children[1]));
    Dict* dict = get_dict(object);
    if (dict == nullptr) return at(*target, bad_pass(fmt::format("'del' of an item of {}", describe(object))));
    PASSNET_TRY(const Value* found, find_key(*dict, key, state_.steps));
    if (found == nullptr) return at(*target, raise("KeyError", fmt::format("the dict has no key {}", describe(key))));
    PASSNET_TRY_VOID(take_key(*dict, found, state_.steps));
  }
  return {};
}

Result<void> Interpreter::assign_name(std::string_view name, const Value& value) {
  const Function* function = frame().function;
  Frame& where = function != nullptr && function->globals.contains(name) ? *frame().file : frame();
  where.variables.insert_or_assign(name, value);
  return {};
}

Result<void> Interpreter::assign(const Expr& target, const Value& value) {
  if (target.kind == ExprKind::Name) return assign_name(target.name, value);
  if (target.kind == ExprKind::Subscript) return assign_item(target, value);
  if (target.kind == ExprKind::Attribute) return assign_attribute(target, value);
  const Sequence* sequence = get_sequence(value);
  const auto star = std::ranges::find(target.children, ExprKind::Star, &Expr::kind);
  const bool has_star = star != target.children.end();
  const size_t names = target.children.size(), given = sequence ? sequence->items.size() : 0;
  if (!sequence || (has_star ? given + 1 < names : given != names)) {
    return at(target, bad_pass(fmt::format("cannot unpack {} into {} names", describe(value), names)));
  }
  const auto starred = static_cast<size_t>(star - target.children.begin());
  PASSNET_TRY(const std::vector<Value> items, copy_values(sequence->items, state_.steps));
  for (size_t i = 0, next = 0; i < names; ++i) {
    if (has_star && i == starred) {
      const size_t several = given + 1 - names;
      const auto first = items.begin() + static_cast<ptrdiff_t>(next);
      PASSNET_TRY(const Value rest, make_sequence(true, {first, first + static_cast<ptrdiff_t>(several)}));
      PASSNET_TRY_VOID(assign(*target.children[i]->children[0], rest));
      next += several;
    } else {
      PASSNET_TRY_VOID(assign(*target.children[i], items[next++]));
    }
  }
  return {};
}

Result<void> Interpreter::assign_item(const Expr& target, const Value& value) {
  PASSNET_TRY(const Value object, eval(*target.children[0]));
  PASSNET_TRY(const Value key, eval(*target.children[1]));
  if (Dict* dict = get_dict(object)) {
    return set_key(*dict, key, value, state_.steps);
  }
  Sequence* list = get_sequence(object);
  const auto index = as_int(key);
  if (list == nullptr || !list->is_list || !index) {
    Error error = bad_pass(fmt::format("cannot assign to an item of {}", describe(object)));
    if (get_if<View>(object)) error.hint = "a plan does not write tensors; launch a kernel that does";
    return at(target, std::move(error));
  }
  const auto size = static_cast<int64_t>(list->items.size());
  if (*index < -size || *index >= size)
    return at(target,
              raise("IndexError", fmt::format("index out of range: found {}, the list has {} items", *index, size)));
  return set_item(*list, static_cast<size_t>(*index < 0 ? *index + size : *index), value, state_.steps);
}

Result<void> Interpreter::assign_attribute(const Expr& target, const Value& value) {
  PASSNET_TRY(const Value object, eval(*target.children[0]));
  return give_attribute(object, target.name, value);
}

Result<void> Interpreter::give_attribute(const Value& object, std::string_view name, const Value& value) {
  const auto* module = get_if<ModuleValue>(object);
  if (module != nullptr && module->frame != nullptr) {
    module->frame->variables.insert_or_assign(name, value);
    return {};
  }
  const void* identity = identity_of(object);
  if (identity == nullptr)
    return bad_pass(fmt::format("cannot assign to an attribute of {}", describe(object)))
        .with_hint("assign to a plain name");
  attributes_.insert_or_assign({identity, name}, value);
  return {};
}

Result<void> Interpreter::define_kernel(const Statement& statement) {
  auto kernel = std::make_shared<KernelObject>();
  kernel->kernel = statement.kernel;
  kernel->file = frame().file;
  if (const Expr* tuned = statement.kernel->autotune) {
    PASSNET_TRY(kernel->configurations, tuning_of(*tuned));
  }
  for (const Expr* heuristics : statement.kernel->heuristics) {
    PASSNET_TRY(CallArguments arguments, eval_arguments(*heuristics));
    for (auto& [name, value] : arguments.keywords) arguments.positional.push_back(std::move(value));
    const Dict* chosen = arguments.positional.size() == 1 ? get_dict(arguments.positional[0]) : nullptr;
    if (chosen == nullptr)
      return at(*heuristics, bad_pass("triton.heuristics takes a dict of constants and functions"));
    PASSNET_TRY_VOID(state_.steps.charge(chosen->items.size()));
    for (const auto& [name, function] : chosen->items) {
      const auto* text = get_if<std::string>(name);
      if (text == nullptr) return at(*heuristics, bad_pass("triton.heuristics takes names of constants"));
      kernel->heuristics.emplace_back(*text, function);
      kernel->chosen.insert(*text);
    }
  }
  for (const auto& configuration : kernel->configurations) {
    PASSNET_TRY_VOID(state_.steps.charge(configuration->constants.size()));
    for (const NamedConstant& constant : configuration->constants) kernel->chosen.insert(constant.name);
  }
  return assign_name(statement.kernel->name, std::shared_ptr<const KernelObject>(std::move(kernel)));
}

}  // namespace passnet::pass
