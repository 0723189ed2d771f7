// Statements of a plan, run one after the other.
#include <fmt/format.h>

#include "pass/plan/interpreter.h"

namespace passnet::pass {

Result<Interpreter::Flow> Interpreter::run(const std::vector<Statement>& body) {
  const Level level(depth_);
  for (const Statement& statement : body) {
    if (level.too_deep()) return bad_pass("the plan is nested too deeply", program_.locate(statement.offset));
    auto paid = charge(state_, 1);
    Result<Flow> flow = paid ? run(statement) : Result<Flow>(std::move(paid).error());
    if (!flow) {
      Error error = std::move(flow).error();
      if (!error.at) error.at = program_.locate(statement.offset);
      return error;
    }
    if (*flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::run(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Pass: return Flow::Next;
    case StatementKind::Break: return Flow::Break;
    case StatementKind::Continue: return Flow::Continue;
    case StatementKind::For: return run_for(statement);
    case StatementKind::While: return run_while(statement);
    case StatementKind::Raise: return failed_assert(statement, fmt::format("the plan raises {}", statement.name));
    case StatementKind::AugmentAssign: PASSNET_TRY_VOID(run_augmented(statement)); return Flow::Next;
    default: break;
  }
  Value value;
  if (statement.value) {
    PASSNET_TRY(value, eval(*statement.value));
  }
  if (statement.kind == StatementKind::Return) {
    frames_.back().result = std::move(value);
    return_offset_ = statement.offset;
    return Flow::Return;
  }
  if (statement.kind == StatementKind::If || statement.kind == StatementKind::Assert) {
    PASSNET_TRY(const bool holds, truth(value));
    if (statement.kind == StatementKind::If) return run(holds ? statement.body : statement.otherwise);
    if (!holds) return failed_assert(statement, "an assertion of the plan does not hold");
  }
  for (const Expr* target : statement.targets) PASSNET_TRY_VOID(assign(*target, value));
  return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::run_for(const Statement& statement) {
  PASSNET_TRY(const Value iterable, eval(*statement.value));
  const Sequence* sequence = get_sequence(iterable);
  if (!sequence) {
    return at(*statement.value, bad_pass(fmt::format("cannot loop over {}", describe(iterable)))
                                    .with_hint("loop over range, zip, enumerate, a tuple or a list"));
  }
  for (const Value& item : sequence->items) {
    PASSNET_TRY_VOID(charge(state_, 1));
    PASSNET_TRY_VOID(assign(*statement.targets[0], item));
    PASSNET_TRY(const Flow flow, run(statement.body));
    if (flow == Flow::Break) break;
    if (flow == Flow::Return) return flow;
  }
  return Flow::Next;
}

Result<Interpreter::Flow> Interpreter::run_while(const Statement& statement) {
  while (true) {
    PASSNET_TRY_VOID(charge(state_, 1));
    PASSNET_TRY(const Value condition, eval(*statement.value));
    PASSNET_TRY(const bool goes_on, truth(condition));
    if (!goes_on) return Flow::Next;
    PASSNET_TRY(const Flow flow, run(statement.body));
    if (flow == Flow::Break) return Flow::Next;
    if (flow == Flow::Return) return flow;
  }
}

Result<void> Interpreter::run_augmented(const Statement& statement) {
  const Expr& target = *statement.targets[0];
  PASSNET_TRY(const Value before, eval(target));
  PASSNET_TRY(const Value operand, eval(*statement.value));
  PASSNET_TRY(const Value after, apply_binary(statement.op, before, operand));
  PASSNET_TRY_VOID(charge(state_, size_of(after)));
  return assign(target, after);
}

/// The error of `raise` and of an assertion, with the author's message.
Error Interpreter::failed_assert(const Statement& statement, std::string_view what) {
  std::string text(what);
  if (statement.message) {
    const Result<Value> message = eval(*statement.message);
    if (!message) return message.error();
    const auto* said = get_if<std::string>(*message);
    text += ": " + (said ? *said : describe(*message));
  }
  return bad_pass(std::move(text), program_.locate(statement.offset))
      .with_hint("to leave a site as it is, 'return NotImplemented'");
}

Result<void> Interpreter::assign(const Expr& target, const Value& value) {
  if (target.kind == ExprKind::Name) {
    frames_.back().variables.insert_or_assign(target.name, value);
    return {};
  }
  const Sequence* sequence = get_sequence(value);
  if (!sequence || sequence->items.size() != target.children.size()) {
    return at(target, bad_pass(fmt::format("cannot unpack {} into {} names", describe(value), target.children.size())));
  }
  for (size_t i = 0; i < target.children.size(); ++i) {
    PASSNET_TRY_VOID(assign(*target.children[i], sequence->items[i]));
  }
  return {};
}

}  // namespace passnet::pass
