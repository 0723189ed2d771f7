// Reads the statements of a plan function. The grammar stands above each function in statement.cpp.
#pragma once

#include <vector>

#include "fx/lexer.h"
#include "pass/plan/expression.h"
#include "pass/plan/syntax.h"

namespace passnet::pass {

class StatementReader {
 public:
  StatementReader(fx::Lexer& lexer, PlanProgram& program) : lexer_(lexer), expressions_(lexer, program) {}

  /// What follows the `:` of def, if, for: statements on the same line, or an indented block. Afterwards the
  /// lexer stands at the first code of the next line outside, whose indentation is `line_indent()`.
  std::vector<Statement> block(uint32_t parent_indent);
  /// Goes to the next line that holds code.
  void next_line() { line_indent_ = lexer_.next_line(); }
  uint32_t line_indent() const { return line_indent_; }
  /// `NAME = …` and the like, without the end of the line.
  Statement assignment();
  /// Fails unless the line ends here.
  void expect_line_end();
  ExpressionReader& expressions() { return expressions_; }

 private:
  void statement(std::vector<Statement>& out);
  void simple_line(std::vector<Statement>& out);
  Statement simple_statement();
  Statement if_statement(const char* at);
  Statement for_statement(const char* at);
  Statement while_statement(const char* at);
  std::vector<Statement> loop_body(uint32_t parent_indent);
  Statement nested_function(const char* at);
  Statement raise_statement(const char* at);
  Statement jump_statement(StatementKind kind, const char* at, std::string_view word);
  Statement start(StatementKind kind, const char* at) const;
  bool accept_augmented(Operator& op);

  fx::Lexer& lexer_;
  ExpressionReader expressions_;
  uint32_t line_indent_ = 0;
  int loops_ = 0;  // around the current statement
};

}  // namespace passnet::pass
