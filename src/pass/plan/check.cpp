#include "pass/plan/check.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "pass/plan/builtins.h"

namespace passnet::pass {

namespace {

using Names = std::set<std::string_view>;

void collect_assigned(const std::vector<Statement>& body, Names& names) {
  for (const Statement& statement : body) {
    for (const Expr* target : statement.targets) collect_targets(*target, names);
    collect_assigned(statement.body, names);
    collect_assigned(statement.otherwise, names);
  }
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view nearest = name.size() < 3 ? std::string_view() : nearest_name(name, known);
  return nearest.empty() ? std::string("see docs/passes.md for what a plan may use")
                         : fmt::format("did you mean {}?", quoted(nearest));
}

/// Walks one function, or one constant. It may read the file's constants and names of its own.
class NameChecker {
 public:
  NameChecker(const PlanProgram& program, const Names& constants, Names own = {})
      : program_(program), constants_(constants), own_(std::move(own)) {}

  Result<void> check(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (statement.value) PASSNET_TRY_VOID(check(*statement.value));
      if (statement.message) PASSNET_TRY_VOID(check(*statement.message));
      PASSNET_TRY_VOID(check(statement.body));
      PASSNET_TRY_VOID(check(statement.otherwise));
    }
    return {};
  }

  Result<void> check(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Name: return check_name(expr);
      case ExprKind::Attribute: return check_attribute(expr);
      case ExprKind::Call: return check_call(expr);
      case ExprKind::Lambda:
      case ExprKind::Comprehension: return check_scope(expr);
      default: return check_all(expr.children, 0);
    }
  }

 private:
  Result<void> check_all(const std::vector<const Expr*>& children, size_t first) {
    for (size_t i = first; i < children.size(); ++i) {
      if (children[i]) PASSNET_TRY_VOID(check(*children[i]));
    }
    return {};
  }

  Error at(const Expr& expr, std::string message, std::string hint) const {
    return bad_pass(std::move(message), program_.locate(expr.offset)).with_hint(std::move(hint));
  }

  std::vector<std::string_view> functions() const {
    std::vector<std::string_view> known = function_names();
    for (const auto& [name, function] : program_.functions) known.push_back(name);
    return known;
  }

  bool knows(std::string_view name) const { return own_.contains(name) || constants_.contains(name); }

  Result<void> check_name(const Expr& expr) {
    if (knows(expr.name)) return {};
    if (find_function(expr.name) || program_.functions.contains(expr.name)) {
      return at(expr, fmt::format("function {} used as a value", quoted(expr.name)), "functions can only be called");
    }
    std::vector<std::string_view> known(own_.begin(), own_.end());
    known.insert(known.end(), constants_.begin(), constants_.end());
    return at(expr, fmt::format("name {} is not defined", quoted(expr.name)), did_you_mean(expr.name, known));
  }

  std::string module_name(const Expr& expr) const {
    std::string name = dotted_name(expr);
    return knows(std::string_view(name).substr(0, name.find('.'))) ? std::string() : name;
  }

  Result<void> check_attribute(const Expr& expr) {
    if (const std::string name = module_name(expr); !name.empty()) {
      if (find_constant(name)) return {};
      return at(expr, fmt::format("outside the plan language: found {}", quoted(name)),
                did_you_mean(name, functions()));
    }
    PASSNET_TRY_VOID(check(*expr.children[0]));
    if (is_attribute(expr.name)) return {};
    const std::string hint = find_method(expr.name) ? fmt::format("it is a method, write '.{}(…)'", expr.name)
                                                    : std::string("tensors have .shape, .dtype, .device and .ndim");
    return at(expr, fmt::format("outside the plan language: found attribute {}", quoted(expr.name)), hint);
  }

  Result<void> check_callee(const Expr& call) {
    const Expr& callee = *call.children[0];
    if (const Expr* kernel = launched_kernel(call)) {
      if (knows(kernel->name)) {
        return at(*kernel, fmt::format("kernel name {} is also a variable", quoted(kernel->name)),
                  "'name[grid](…)' launches the kernel 'name'; give the variable another name");
      }
      return check(*callee.children[1]);
    }
    if (callee.kind == ExprKind::Name) {
      if (find_function(callee.name) || program_.functions.contains(callee.name)) return {};
      return at(callee, fmt::format("unknown function {}", quoted(callee.name)),
                did_you_mean(callee.name, functions()));
    }
    if (callee.kind != ExprKind::Attribute) {
      return at(call, "outside the plan language: found a call of an expression",
                "call functions by name, methods of tensors, or launch 'kernel[grid](…)'");
    }
    if (const std::string name = module_name(callee); !name.empty()) {
      if (find_function(name)) return {};
      return at(callee, fmt::format("outside the plan language: found {}", quoted(name + "()")),
                did_you_mean(name, functions()));
    }
    PASSNET_TRY_VOID(check(*callee.children[0]));
    if (find_method(callee.name)) return {};
    return at(callee, fmt::format("outside the plan language: found method {}", quoted(callee.name)),
              did_you_mean(callee.name, method_names()));
  }

  Result<void> check_call(const Expr& call) {
    PASSNET_TRY_VOID(check_callee(call));
    PASSNET_TRY_VOID(check_all(call.children, 1));
    for (const KeywordExpr& keyword : call.keywords) PASSNET_TRY_VOID(check(*keyword.value));
    return {};
  }

  /// A lambda or comprehension: its own names exist only inside.
  Result<void> check_scope(const Expr& expr) {
    Names added;
    if (expr.kind == ExprKind::Lambda)
      added.insert(expr.name);
    else
      collect_targets(*expr.children[1], added);
    std::erase_if(added, [&](std::string_view name) { return own_.contains(name); });
    own_.insert(added.begin(), added.end());
    auto result = check_all(expr.children, 0);
    for (std::string_view name : added) own_.erase(name);
    return result;
  }

  const PlanProgram& program_;
  const Names& constants_;
  Names own_;
};

}  // namespace

void collect_targets(const Expr& target, Names& names) {
  if (target.kind == ExprKind::Name) names.insert(target.name);
  for (const Expr* item : target.children) collect_targets(*item, names);
}

std::string dotted_name(const Expr& expr) {
  std::vector<std::string_view> parts;
  const Expr* at = &expr;
  for (; at->kind == ExprKind::Attribute; at = at->children[0]) parts.push_back(at->name);
  if (at->kind != ExprKind::Name || !is_module(at->name) || parts.empty()) return {};
  std::string name(at->name);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) name.append(".").append(*part);
  return name;
}

const Expr* launched_kernel(const Expr& call) {
  const Expr& callee = *call.children[0];
  if (callee.kind != ExprKind::Subscript || callee.children[0]->kind != ExprKind::Name) return nullptr;
  return callee.children[0];
}

Result<void> check_program(const PlanProgram& program) {
  Names constants;
  for (const ModuleConstant& constant : program.constants) {
    PASSNET_TRY_VOID(NameChecker(program, constants).check(*constant.expr));
    constants.insert(constant.name);
  }
  const auto check_defaults = [&](const std::vector<Parameter>& parameters) -> Result<void> {
    for (const Parameter& parameter : parameters) {
      if (parameter.default_value) PASSNET_TRY_VOID(NameChecker(program, constants).check(*parameter.default_value));
    }
    return {};
  };
  for (const auto& [name, kernel] : program.jit_kernels) PASSNET_TRY_VOID(check_defaults(kernel.parameters));
  for (const auto& [name, function] : program.functions) {
    PASSNET_TRY_VOID(check_defaults(function.parameters));
    Names own;
    for (const Parameter& parameter : function.parameters) own.insert(parameter.name);
    collect_assigned(function.body, own);
    PASSNET_TRY_VOID(NameChecker(program, constants, std::move(own)).check(function.body));
  }
  return {};
}

}  // namespace passnet::pass
