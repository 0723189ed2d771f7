// Reads expressions of the plan language. The grammar stands above each function in expression.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "fx/syntax/lexer.h"
#include "fx/syntax/operators.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

/// After an error the lexer has failed and stands at the end of the text; what is returned is then
/// meaningless but never null.
class ExpressionReader {
 public:
  ExpressionReader(fx::Lexer& lexer, PlanProgram& program) : lexer_(lexer), program_(program) {}

  const Expr* expression();
  /// One expression, or a tuple when commas follow: the right side of `=`, `return` and `for … in`.
  const Expr* expression_list();
  /// What stands before `=` or `in`: a name or a tuple of them. Anything else fails.
  void check_target(const Expr& expr);
  /// The names before `in`, where `in` is not an operator.
  const Expr* loop_target();
  /// A name as an expression.
  const Expr* name(const char* at, std::string_view name);
  /// Up to `close`, which is left: parameters [":" annotation] ["=" default], "," between them.
  std::vector<Parameter> parameters(char close);
  /// The function whose body is read now; null at the top of a file.
  const Function* scope() const { return scope_; }
  void enter(const Function* scope) { scope_ = scope; }
  /// "outside the plan language: found FOUND", with the list of what is allowed.
  void outside(const char* at, std::string_view found);

 private:
  using Children = std::vector<const Expr*>;
  Expr* make(ExprKind kind, const char* at, Children children = {});
  const Expr* make_binary(Operator op, const char* at, const Expr* left, const Expr* right);
  const Expr* literal(const char* at, Value value);
  Parameter parameter(bool annotated);
  const Expr* lambda(const char* at);
  const Expr* disjunction();
  const Expr* conjunction();
  const Expr* negation();
  const Expr* comparison();
  const Expr* binary(uint8_t precedence);
  const Expr* factor();
  const Expr* power();
  const Expr* primary();
  const Expr* atom();
  const Expr* word(const char* at);
  bool accept_f_prefix();
  const Expr* f_string(const char* at);
  const Expr* replacement_field(const char* end);
  const Expr* item();
  const Expr* parenthesis(const char* at);
  const Expr* list(const char* at);
  const Expr* dict(const char* at);
  const Expr* call(const Expr* callee);
  const Expr* subscript(const Expr* object);
  const Expr* subscript_item();
  const Expr* comprehension(ExprKind kind, const char* at, const Expr* element);
  bool accept_comparison(Operator& op);

  fx::Lexer& lexer_;
  PlanProgram& program_;
  const Function* scope_ = nullptr;
};

}  // namespace passnet::pass
