#include "pass/plan/syntax/tensor_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace passnet::pass {

namespace {

constexpr std::array<std::string_view, 10> kOfTensors{"shape", "dtype", "is_cuda",       "numel",    "stride",
                                                      "size",  "dim",   "is_contiguous", "data_ptr", "element_size"};
constexpr std::array<std::string_view, 14> kGiveTensors{"contiguous", "view",    "reshape",   "flatten", "permute",
                                                        "transpose",  "squeeze", "unsqueeze", "expand",  "clone",
                                                        "to",         "float",   "half",      "bfloat16"};

template <size_t size>
bool holds(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_arithmetic(const Expr& expr) {
  return (expr.kind == ExprKind::Binary && expr.op <= Operator::BitOr) ||
         (expr.kind == ExprKind::Unary && (expr.op == Operator::Negative || expr.op == Operator::Invert));
}

bool is_number(const Expr& expr) {
  return expr.kind == ExprKind::Literal && (get_if<int64_t>(expr.value) || get_if<double>(expr.value));
}

/// Returns whether statements behind this one may not run.
bool may_leave(const Statement& statement) {
  if (statement.kind == StatementKind::Return || statement.kind == StatementKind::Raise) return true;
  for (const auto* inner : {&statement.body, &statement.otherwise, &statement.finally})
    if (std::ranges::any_of(*inner, may_leave)) return true;
  return std::ranges::any_of(statement.handlers,
                             [](const Handler& handler) { return std::ranges::any_of(handler.body, may_leave); });
}

/// The name that a statement gives a value to; empty: another number of them.
std::string_view only_target(const Statement& statement) {
  const bool is_one = statement.kind == StatementKind::Assign && statement.targets.size() == 1;
  return is_one && statement.targets[0]->kind == ExprKind::Name ? statement.targets[0]->name : std::string_view();
}

/// The parts of an expression that are evaluated whenever it is.
std::vector<const Expr*> certain_parts(const Expr& expr) {
  std::vector<const Expr*> parts;
  const bool may_skip = expr.kind == ExprKind::And || expr.kind == ExprKind::Or || expr.kind == ExprKind::Conditional;
  const bool is_scope =
      expr.kind == ExprKind::Lambda || expr.kind == ExprKind::Comprehension || expr.kind == ExprKind::DictComprehension;
  if (is_scope) return parts;
  for (const Expr* child : expr.children) {
    if (child != nullptr) parts.push_back(child);
    if (may_skip) break;
  }
  for (const KeywordExpr& keyword : expr.keywords) parts.push_back(keyword.value);
  return parts;
}

}  // namespace

TensorNames::TensorNames(const Function& function, bool is_plan, IsAllocation is_allocation)
    : function_(function), is_allocation_(std::move(is_allocation)), is_plan_(is_plan) {
  count_assignments(function.body);
  bool leaves = false;
  read(function.body, leaves);
  for (const Statement* statement : certain_) {
    const std::string_view name = only_target(*statement);
    if (!name.empty() && assignments_[name] == 1 && is_tensor(*statement->value)) tensors_.insert(name);
  }
}

void TensorNames::count_assignments(const std::vector<Statement>& body) {
  const std::function<void(const Expr&)> count = [&](const Expr& target) {
    if (target.kind == ExprKind::Name) ++assignments_[target.name];
    if (target.kind != ExprKind::Tuple && target.kind != ExprKind::List && target.kind != ExprKind::Star) return;
    for (const Expr* item : target.children) count(*item);
  };
  for (const Statement& statement : body) {
    for (const Expr* target : statement.targets) count(*target);
    for (const auto* inner : {&statement.body, &statement.otherwise, &statement.finally}) count_assignments(*inner);
    for (const Handler& handler : statement.handlers) {
      ++assignments_[handler.bound];
      count_assignments(handler.body);
    }
  }
}

/// leaves: becomes true at a statement after which others may not run.
void TensorNames::read(const std::vector<Statement>& body, bool& leaves) {
  for (const Statement& statement : body) {
    if (leaves) return;
    certain_.push_back(&statement);
    if (statement.value != nullptr) note_use(*statement.value);
    if (statement.kind == StatementKind::With) read(statement.body, leaves);
    leaves = leaves || may_leave(statement);
  }
}

/// Parameters that are never given another value, and are asked for what tensors have.
void TensorNames::note_use(const Expr& expr) {
  if (expr.kind == ExprKind::Attribute && expr.children[0]->kind == ExprKind::Name) {
    const std::string_view name = expr.children[0]->name;
    const bool is_parameter = std::ranges::any_of(function_.parameters, [&](const Parameter& parameter) {
      return parameter.name == name && parameter.kind == ParameterKind::Plain;
    });
    if (is_parameter && !assignments_.contains(name) &&
        (holds(kOfTensors, expr.name) || holds(kGiveTensors, expr.name)))
      tensors_.insert(name);
  }
  for (const Expr* part : certain_parts(expr)) note_use(*part);
}

bool TensorNames::is_tensor(const Expr& expr) const {
  if (expr.kind == ExprKind::Name) return tensors_.contains(expr.name);
  if (expr.kind != ExprKind::Call) return false;
  const Expr& callee = *expr.children[0];
  if (is_allocation_(expr)) return true;
  return callee.kind == ExprKind::Attribute && holds(kGiveTensors, callee.name) && is_tensor(*callee.children[0]);
}

const Expr* TensorNames::find_in(const Expr& expr) const {
  if (is_arithmetic(expr)) {
    const auto computes = [&](const Expr* operand) { return is_tensor(*operand); };
    if (std::ranges::any_of(expr.children, computes)) return &expr;
  }
  for (const Expr* part : certain_parts(expr)) {
    if (const Expr* found = find_in(*part)) return found;
  }
  return nullptr;
}

/// Returns whether `returned` computes with tensors. `+` and `*` may join tuples of tensors, so they need an operand that
/// is a parameter, arithmetic, or a number that cannot repeat a tuple.
bool TensorNames::must_be_arithmetic(const Expr& returned) const {
  if (!is_arithmetic(returned)) return false;
  if (returned.op != Operator::Add && returned.op != Operator::Multiply) return true;
  return std::ranges::any_of(returned.children, [&](const Expr* operand) {
    const bool is_parameter = std::ranges::any_of(function_.parameters, [&](const Parameter& parameter) {
      return operand->kind == ExprKind::Name && parameter.name == operand->name &&
             parameter.kind == ParameterKind::Plain;
    });
    const bool is_count = returned.op == Operator::Multiply && is_number(*operand) && get_if<int64_t>(operand->value);
    return (is_number(*operand) && !is_count) || (is_parameter && !assignments_.contains(operand->name)) ||
           must_be_arithmetic(*operand);
  });
}

const Expr* TensorNames::find_arithmetic() const {
  for (const Statement* statement : certain_) {
    if (statement->value == nullptr) continue;
    if (const Expr* found = find_in(*statement->value)) return found;
  }
  if (!is_plan_ || certain_.empty() || certain_.back()->kind != StatementKind::Return) return nullptr;
  const Expr* value = certain_.back()->value;
  if (value == nullptr) return nullptr;
  for (const Expr* item : value->kind == ExprKind::Tuple ? value->children : std::vector<const Expr*>{value}) {
    const auto made = std::ranges::find_if(certain_, [&](const Statement* one) {
      return item->kind == ExprKind::Name && only_target(*one) == item->name && assignments_.at(item->name) == 1;
    });
    const Expr& computed = made == certain_.end() ? *item : *(*made)->value;
    if (must_be_arithmetic(computed)) return &computed;
  }
  return nullptr;
}

}  // namespace passnet::pass
