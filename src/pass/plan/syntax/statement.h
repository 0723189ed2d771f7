// Reads the statements of a pass file. The grammar stands above each function in statement.cpp, definition.cpp (functions
// and kernels) and import.cpp.
#pragma once

#include <vector>

#include "fx/syntax/lexer.h"
#include "pass/plan/syntax.h"
#include "pass/plan/syntax/expression.h"

namespace passnet::pass {

class StatementReader {
 public:
  StatementReader(fx::Lexer& lexer, PlanProgram& program)
      : lexer_(lexer), program_(program), expressions_(lexer, program) {}

  /// What follows the `:` of def, if, for: statements on the same line, or an indented block. Afterwards the
  /// lexer stands at the first code of the next line outside, whose indentation is `line_indent_`.
  std::vector<Statement> block(uint32_t parent_indent);
  /// The statements of the whole file.
  std::vector<Statement> file();
  /// Goes to the next line that holds code.
  void next_line() { line_indent_ = lexer_.next_line(); }

 private:
  /// What the decorators before a function say.
  struct Decorators {
    uint32_t jit_offset = 0;  // of `@triton.jit`
    const Expr* jit = nullptr;
    const Expr* autotune = nullptr;
    std::vector<const Expr*> heuristics;
  };

  Statement assignment();
  /// Fails unless the line ends here.
  void expect_line_end();
  void statement(std::vector<Statement>& out);
  void simple_line(std::vector<Statement>& out);
  Statement simple_statement();
  Statement if_statement(const char* at);
  Statement for_statement(const char* at);
  Statement while_statement(const char* at);
  std::vector<Statement> loop_body(uint32_t parent_indent);
  Statement try_statement(const char* at);
  Handler handler(uint32_t parent_indent);
  Statement with_statement(const char* at);
  Statement raise_statement(const char* at);
  void global_statement(const char* at);

  Statement decorated(const char* at);
  bool decorator(Decorators& said);
  Statement definition(const char* at);
  Statement class_statement(const char* at);
  Statement kernel(const char* at, const Decorators& said);
  void skip_body(uint32_t indent);
  std::string_view function_name();

  Statement import_statement(const char* at);
  Statement from_statement(const char* at);
  std::string_view bound_name(std::string_view otherwise);
  void add_import(Statement& statement, Import import);
  Statement jump_statement(StatementKind kind, const char* at, std::string_view word);
  Statement start(StatementKind kind, const char* at) const;
  bool accept_augmented(Operator& op);

  fx::Lexer& lexer_;
  PlanProgram& program_;
  ExpressionReader expressions_;
  uint32_t line_indent_ = 0;
  int loops_ = 0;                 // around the current statement
  Function* function_ = nullptr;  // around it; null: the file
};

}  // namespace passnet::pass
