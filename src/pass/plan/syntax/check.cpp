#include "pass/plan/syntax/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/text/strings.h"
#include "pass/plan/library/builtins.h"
#include "pass/plan/syntax/tensor_names.h"

namespace passnet::pass {

namespace {

using Names = std::set<std::string_view>;

/// What all functions of a file share.
class FileNames {
 public:
  FileNames(const PlanProgram& program, const PlanFiles& files) : program_(program) {
    Names bound_twice;
    for (const Import& import : program.imports) {
      const bool is_ours = files.find(import.module) != nullptr || files.is_package(import.module);
      const std::string dotted = import.name.empty() ? import.module : import.module + "." + std::string(import.name);
      if (is_ours || !is_library(import.module)) {
        modules_.insert(import.bound);
      } else if (const auto [at, is_new] = libraries_.emplace(import.bound, canonical_name(dotted));
                 !is_new && at->second != canonical_name(dotted)) {
        bound_twice.insert(import.bound);
      }
    }
    for (const std::string_view name : bound_twice) libraries_.erase(name);
    for (const std::string_view name : modules_) libraries_.erase(name);
  }

  /// Whether the file, or a function outside this one, has a variable of that name.
  bool has(std::string_view name) const { return program_.names.contains(name); }
  /// What the file imports under that name, "torch.nn"; empty when it is something else.
  std::string library(std::string_view name) const {
    const auto found = libraries_.find(name);
    if (found != libraries_.end()) return found->second;
    return is_module(name) && !has(name) ? std::string(name) : std::string();
  }
  const PlanProgram& program() const { return program_; }

 private:
  const PlanProgram& program_;
  std::map<std::string_view, std::string> libraries_;
  Names modules_;
};

/// Names of functions: those that are named; those among them that each evaluation of the plan calls; and the plans.
struct Reached {
  Names named, called, plans;
};

/// Walks one function, or the file's own statements. What the plan language lacks is an error where each evaluation comes
/// to it; in a branch it is one when that is evaluated.
class NameChecker {
 public:
  /// reached: is added to. is_called: each evaluation calls the function; false for a file, which runs when it is loaded.
  NameChecker(const FileNames& file, const Function* function, bool is_called, Reached& reached,
              const LoadOptions& options, Budget& steps)
      : file_(file), reached_(reached), options_(options), steps_(steps), is_certain_(is_called) {
    is_maker_ = function != nullptr && function->name == "replacement_func";
    for (; function != nullptr; function = function->outer) {
      own_.insert(function->locals.begin(), function->locals.end());
      for (const Parameter& parameter : function->parameters) parameters_.insert(parameter.name);
    }
  }

  Result<void> check(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (is_main_guard(statement) || statement.builds_graph) continue;
      PASSNET_TRY_VOID(check(statement));
      if (leaves_) is_certain_ = false;
    }
    return {};
  }

  /// Errors: arithmetic with tensors in a function that each evaluation calls.
  Result<void> check_arithmetic(const Function& function) const {
    const auto is_allocation = [&](const Expr& call) {
      const std::string name = library_name(*call.children[0]);
      return name != "torch.Size" && name != "torch.finfo" &&
             std::ranges::find(torch_functions(), name, &Builtin::name) != torch_functions().end();
    };
    const Expr* found = TensorNames(function, reached_.plans.contains(function.name), is_allocation).find_arithmetic();
    if (options_.allow_library || found == nullptr) return {};
    Error error = bad_pass(fmt::format("operator '{}' does not take a tensor", spelling(found->op)));
    return at(*found, std::move(error).with_failure("library-call"), std::string(kLibraryHint));
  }

 private:
  /// `if __name__ == "__main__":`, which never holds here.
  static bool is_main_guard(const Statement& statement) {
    const Expr* condition = statement.value;
    return statement.kind == StatementKind::If && condition->kind == ExprKind::Compare &&
           condition->children[0]->name == "__name__";
  }

  Result<void> check(const Statement& statement) {
    const StatementKind kind = statement.kind;
    leaves_ |= kind == StatementKind::Return || kind == StatementKind::Raise || kind == StatementKind::Break ||
               kind == StatementKind::Continue;
    const Expr* value = statement.value;
    if (kind == StatementKind::Return && value != nullptr && value->kind == ExprKind::Name) note_call(value->name);
    if (kind == StatementKind::Return && is_maker_ && value != nullptr) reached_.plans.insert(value->name);
    if (value != nullptr) PASSNET_TRY_VOID(check(*value));
    if (statement.message) PASSNET_TRY_VOID(check_branch(*statement.message));
    for (const Expr* target : statement.targets) PASSNET_TRY_VOID(check_target(*target));
    if (statement.function != nullptr) PASSNET_TRY_VOID(check_defaults(statement.function->parameters));
    if (statement.kernel != nullptr) PASSNET_TRY_VOID(check_kernel(*statement.kernel));
    const bool always_runs = kind == StatementKind::Try || kind == StatementKind::With;
    PASSNET_TRY_VOID(always_runs ? check(statement.body) : check_branch(statement.body));
    PASSNET_TRY_VOID(check_branch(statement.otherwise));
    for (const Handler& handler : statement.handlers) PASSNET_TRY_VOID(check_branch(handler.body));
    return check(statement.finally);
  }

  /// Checks what not each evaluation comes to.
  template <class Part>
  Result<void> check_branch(const Part& part) {
    const bool was_certain = std::exchange(is_certain_, false);
    Result<void> checked = check(part);
    is_certain_ = was_certain && !leaves_;
    return checked;
  }

  void note_call(std::string_view name) {
    reached_.named.insert(name);
    if (is_certain_) reached_.called.insert(name);
  }

  Result<void> check_kernel(const JitKernel& kernel) {
    if (kernel.autotune != nullptr) PASSNET_TRY_VOID(check_all(kernel.autotune->children, 1));
    if (kernel.autotune != nullptr) PASSNET_TRY_VOID(check_keywords(*kernel.autotune));
    for (const Expr* heuristics : kernel.heuristics) {
      PASSNET_TRY_VOID(check_all(heuristics->children, 1));
      PASSNET_TRY_VOID(check_keywords(*heuristics));
    }
    return check_defaults(kernel.parameters);
  }

  Result<void> check_defaults(const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters) {
      if (parameter.default_value) PASSNET_TRY_VOID(check(*parameter.default_value));
    }
    return {};
  }

  Result<void> check_target(const Expr& target) {
    if (target.kind == ExprKind::Subscript) return check_all(target.children, 0);
    if (target.kind == ExprKind::Attribute) return check(*target.children[0]);
    if (target.kind == ExprKind::Name) return {};
    for (const Expr* child : target.children) PASSNET_TRY_VOID(check_target(*child));
    return {};
  }

  Result<void> check(const Expr& expr) {
    PASSNET_TRY_VOID(steps_.charge(1));
    switch (expr.kind) {
      case ExprKind::Name: return check_name(expr);
      case ExprKind::Attribute: return check_attribute(expr);
      case ExprKind::Call: return check_call(expr);
      case ExprKind::Lambda:
      case ExprKind::Comprehension:
      case ExprKind::DictComprehension: return check_scope(expr);
      case ExprKind::And:
      case ExprKind::Or:
      case ExprKind::Conditional:
        PASSNET_TRY_VOID(check(*expr.children[0]));
        for (size_t i = 1; i < expr.children.size(); ++i) PASSNET_TRY_VOID(check_branch(*expr.children[i]));
        return {};
      default: return check_all(expr.children, 0);
    }
  }

  Result<void> check_all(const std::vector<const Expr*>& children, size_t first) {
    for (size_t i = first; i < children.size(); ++i) {
      if (children[i]) PASSNET_TRY_VOID(check(*children[i]));
    }
    return {};
  }

  Error at(const Expr& expr, std::string message, std::string hint) const {
    return at(expr, bad_pass(std::move(message)), std::move(hint));
  }
  Error at(const Expr& expr, Error error, std::string hint) const {
    error.at = file_.program().locate(expr.offset);
    return std::move(error).with_hint(std::move(hint));
  }

  std::vector<std::string_view> functions() const {
    std::vector<std::string_view> known = function_names();
    for (const Function& function : file_.program().functions) known.push_back(function.name);
    return known;
  }

  bool knows(std::string_view name) const { return own_.contains(name) || file_.has(name); }

  Result<void> check_name(const Expr& expr) {
    reached_.named.insert(expr.name);
    if (knows(expr.name) || find_function(expr.name) || find_constant(expr.name) || is_module(expr.name)) return {};
    if (!is_certain_) return {};
    std::vector<std::string_view> known(own_.begin(), own_.end());
    known.insert(known.end(), file_.program().names.begin(), file_.program().names.end());
    return at(expr, fmt::format("name {} is not defined", quoted(expr.name)), did_you_mean(expr.name, known));
  }

  /// "torch.nn.functional" for a chain of attributes of a library, as long as it is no value that plans know.
  std::string library_name(const Expr& expr) const {
    if (expr.kind == ExprKind::Name) {
      const bool is_local = own_.contains(expr.name) && file_.library(expr.name).empty();
      const std::string name = is_local ? std::string() : file_.library(expr.name);
      return find_function(name) || find_constant(name) ? std::string() : name;
    }
    if (expr.kind != ExprKind::Attribute) return {};
    const std::string object = library_name(*expr.children[0]);
    if (object.empty() || find_function(object) || find_constant(object)) return {};
    return canonical_name(object + "." + std::string(expr.name));
  }

  Result<void> check_attribute(const Expr& expr) {
    PASSNET_TRY_VOID(steps_.charge(expr.depth));  // the library that it may be of is looked for down to its name
    if (const std::string name = library_name(expr); !name.empty()) {
      const bool is_known = find_constant(name) || find_function(name) || may_call(ir::NodeKind::CallFunction, name);
      if (is_known || !is_certain_) return {};
      return outside(expr, fmt::format("outside the plan language: found {}", quoted(name)), name, false);
    }
    PASSNET_TRY_VOID(check(*expr.children[0]));
    reached_.named.insert(expr.name);
    if (is_attribute(expr.name) || may_have(*expr.children[0]) || !is_certain_) return {};
    const std::string hint = find_method(expr.name) ? fmt::format("it is a method, write '.{}(…)'", expr.name)
                                                    : std::string("tensors have .shape, .dtype, .device and .ndim");
    return at(expr, fmt::format("outside the plan language: found attribute {}", quoted(expr.name)), hint);
  }

  /// Files have what they define, and functions and kernels what is given to them: that shows when it is read.
  bool may_have(const Expr& object) const {
    if (object.kind == ExprKind::Attribute || object.kind == ExprKind::Subscript) return may_have(*object.children[0]);
    if (object.kind == ExprKind::Call) {
      const Expr& callee = *object.children[0];
      return callee.kind == ExprKind::Name || !library_name(callee).empty();
    }
    return object.kind == ExprKind::Name && !parameters_.contains(object.name) && knows(object.name);
  }

  Result<void> check_callee(const Expr& call) {
    const Expr& callee = *call.children[0];
    if (const Expr* kernel = launched_kernel(call)) {
      reached_.named.insert(kernel->name);
      return check(*callee.children[1]);
    }
    if (callee.kind == ExprKind::Name) {
      note_call(callee.name);
      if (const std::string name = library_name(callee); !name.empty()) return check_library_call(callee, name);
      if (knows(callee.name) || find_function(callee.name) || find_type(callee.name) || !is_certain_) return {};
      return at(callee, fmt::format("unknown function {}", quoted(callee.name)),
                did_you_mean(callee.name, functions()));
    }
    if (callee.kind != ExprKind::Attribute) return check(callee);
    if (const std::string name = library_name(callee); !name.empty()) return check_library_call(callee, name);
    PASSNET_TRY_VOID(check(*callee.children[0]));
    note_call(callee.name);
    if (find_method(callee.name) || may_have(*callee.children[0]) || !is_certain_) return {};
    if (may_call(ir::NodeKind::CallMethod, callee.name)) return {};
    return outside(callee, fmt::format("outside the plan language: found method {}", quoted(callee.name)), callee.name,
                   true);
  }

  Result<void> check_library_call(const Expr& callee, const std::string& name) const {
    if (find_function(name) || find_type(name) || may_call(ir::NodeKind::CallFunction, name)) return {};
    if (!is_certain_) return {};
    return outside(callee, fmt::format("outside the plan language: found {}", quoted(name + "()")), name, false);
  }

  bool may_call(ir::NodeKind kind, std::string_view target) const {
    return options_.allow_library && is_library_call(kind, target);
  }

  /// A call that plans do not have; what PyTorch would compute has a hint of its own.
  Error outside(const Expr& callee, std::string message, std::string_view name, bool is_method) const {
    Error error = outside_language(std::move(message), name, is_method);
    std::string hint = error.hint;
    if (hint.empty()) hint = did_you_mean(name, is_method ? method_names() : functions());
    return at(callee, std::move(error), std::move(hint));
  }

  Result<void> check_keywords(const Expr& call) {
    for (const KeywordExpr& keyword : call.keywords) PASSNET_TRY_VOID(check(*keyword.value));
    return {};
  }

  Result<void> check_call(const Expr& call) {
    PASSNET_TRY_VOID(check_callee(call));
    PASSNET_TRY_VOID(check_all(call.children, 1));
    return check_keywords(call);
  }

  /// A lambda or comprehension: its own names exist only inside.
  Result<void> check_scope(const Expr& expr) {
    Names added;
    if (expr.kind == ExprKind::Lambda) {
      PASSNET_TRY_VOID(steps_.charge(expr.function->locals.size()));
      added = expr.function->locals;
      PASSNET_TRY_VOID(check_defaults(expr.function->parameters));
    } else {
      for (size_t i = 1; i < expr.children.size(); ++i) collect_targets(*expr.children[i]->children[0], added);
    }
    std::erase_if(added, [&](std::string_view name) { return own_.contains(name); });
    own_.insert(added.begin(), added.end());
    const bool was_certain = std::exchange(is_certain_, false);
    auto result = check_all(expr.children, 0);
    is_certain_ = was_certain;
    for (std::string_view name : added) own_.erase(name);
    return result;
  }

  const FileNames& file_;
  Reached& reached_;
  const LoadOptions& options_;
  Budget& steps_;
  bool is_certain_;        // each evaluation comes to what is checked now
  bool is_maker_ = false;  // it is replacement_func
  bool leaves_ = false;    // a statement before it may have left the function or a loop
  Names own_, parameters_;
};

}  // namespace

void collect_targets(const Expr& target, Names& names) {
  if (target.kind == ExprKind::Name) names.insert(target.name);
  if (target.kind != ExprKind::Tuple && target.kind != ExprKind::List && target.kind != ExprKind::Star) return;
  for (const Expr* item : target.children) collect_targets(*item, names);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view nearest = name.size() < 3 ? std::string_view() : nearest_name(name, known);
  return nearest.empty() ? std::string("see docs/plan-language.md for what a plan may use")
                         : fmt::format("did you mean {}?", quoted(nearest));
}

void collect_assigned(const std::vector<Statement>& body, Names& names) {
  for (const Statement& statement : body) {
    for (const Expr* target : statement.targets) collect_targets(*target, names);
    if (statement.function != nullptr) names.insert(statement.function->name);
    if (statement.kernel != nullptr) names.insert(statement.kernel->name);
    for (const Import& import : statement.imports) names.insert(import.bound);
    for (const Handler& handler : statement.handlers) {
      if (!handler.bound.empty()) names.insert(handler.bound);
      collect_assigned(handler.body, names);
    }
    collect_assigned(statement.body, names);
    collect_assigned(statement.otherwise, names);
    collect_assigned(statement.finally, names);
  }
}

const Expr* launched_kernel(const Expr& call) {
  const Expr& callee = *call.children[0];
  if (callee.kind != ExprKind::Subscript || callee.children[0]->kind != ExprKind::Name) return nullptr;
  return callee.children[0];
}

namespace {

/// Follows names that stand for called functions: imports, and `name = other` of a file.
void follow_names(const PlanProgram& program, Reached& reached) {
  const auto follow = [&](std::string_view name, std::string_view other) {
    if (reached.called.contains(name)) reached.called.insert(other);
    if (reached.plans.contains(name)) reached.plans.insert(other);
  };
  for (const Import& import : program.imports)
    if (!import.name.empty()) follow(import.bound, import.name);
  for (const Statement& statement : program.body) {
    if (statement.kind != StatementKind::Assign || statement.value->kind != ExprKind::Name) continue;
    for (const Expr* target : statement.targets)
      if (target->kind == ExprKind::Name) follow(target->name, statement.value->name);
  }
}

}  // namespace

Result<void> check_names(const PlanFiles& files, const LoadOptions& options, Budget& steps) {
  std::vector<std::pair<const PlanProgram*, FileNames>> all{{files.own.get(), FileNames(*files.own, files)}};
  for (const auto& beside : files.beside) all.emplace_back(beside.get(), FileNames(*beside, files));
  const Names roots{"replacement_args", "replacement_func"};
  Reached reached{roots, roots, {}};
  for (const auto& [program, names] : all) {
    PASSNET_TRY_VOID(NameChecker(names, nullptr, false, reached, options, steps).check(program->body));
    for (const Import& import : program->imports) reached.named.insert(import.name);
  }
  std::map<const Function*, bool> checked;  // as one that each evaluation calls
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& [program, names] : all) {
      PASSNET_TRY_VOID(steps.charge(program->functions.size() + program->body.size() + program->imports.size()));
      follow_names(*program, reached);
      for (const Function& function : program->functions) {
        const bool is_called = reached.called.contains(function.name);
        if (function.is_graph || !(is_called || reached.named.contains(function.name))) continue;
        const auto [known, is_new] = checked.emplace(&function, is_called);
        if (!is_new && (known->second || !is_called)) continue;
        known->second = is_called;
        goes_on = true;
        for (const Function* in = &function; in != nullptr; in = in->outer)
          PASSNET_TRY_VOID(steps.charge(in->locals.size()));
        NameChecker checker(names, &function, is_called, reached, options, steps);
        PASSNET_TRY_VOID(checker.check(function.body));
        if (is_called && options.find_arithmetic) PASSNET_TRY_VOID(checker.check_arithmetic(function));
      }
    }
  }
  return {};
}

}  // namespace passnet::pass
