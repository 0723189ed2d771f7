#include "pass/plan/statement.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/strings.h"

namespace passnet::pass {

Statement StatementReader::start(StatementKind kind, const char* at) const {
  Statement statement;
  statement.kind = kind;
  statement.offset = lexer_.offset(at);
  return statement;
}

void StatementReader::expect_line_end() {
  if (lexer_.at_statement_end() && lexer_.peek() != ';') return;
  if (lexer_.peek() == '@' || lexer_.peek() == ':') {
    return expressions_.outside(lexer_.at(), lexer_.describe());
  }
  lexer_.expected("the end of the line");
}

// block := simple_line | NEWLINE INDENT statement+ DEDENT
std::vector<Statement> StatementReader::block(uint32_t parent_indent) {
  const fx::Lexer::Nest nest(lexer_);
  std::vector<Statement> body;
  if (lexer_.peek() != '\n' && !lexer_.at_end()) {
    simple_line(body);
    return body;
  }
  next_line();
  const uint32_t indent = line_indent_;
  if (lexer_.at_end() || indent <= parent_indent) {
    lexer_.expected("an indented block");
    return body;
  }
  while (!lexer_.at_end() && line_indent_ == indent) statement(body);
  if (!lexer_.at_end() && line_indent_ > parent_indent) {
    lexer_.fail(lexer_.at(),
                fmt::format("indentation does not fit: found {} columns, expected {}", line_indent_, indent), {},
                Error::Kind::BadPass);
  }
  return body;
}

// statement := if | for | while | def | simple_line
void StatementReader::statement(std::vector<Statement>& out) {
  const char* at = lexer_.at();
  if (lexer_.accept_word("if"))
    out.push_back(if_statement(at));
  else if (lexer_.accept_word("for"))
    out.push_back(for_statement(at));
  else if (lexer_.accept_word("while"))
    out.push_back(while_statement(at));
  else if (lexer_.accept_word("def"))
    out.push_back(nested_function(at));
  else
    simple_line(out);
}

// simple_line := simple_statement (";" simple_statement)* [";"] NEWLINE
void StatementReader::simple_line(std::vector<Statement>& out) {
  do {
    if (lexer_.at_statement_end()) break;
    out.push_back(simple_statement());
  } while (lexer_.accept(';'));
  expect_line_end();
  next_line();
}

// simple_statement := "return" [list] | "assert" expression ["," expression] | raise | "pass" | "break" |
// "continue"
//                   | STRING (a comment) | assignment | expression
Statement StatementReader::simple_statement() {
  const char* at = lexer_.at();
  if (lexer_.at_quote()) {
    std::string scratch;
    lexer_.string(scratch);
    return start(StatementKind::Pass, at);
  }
  if (lexer_.accept_word("pass")) return start(StatementKind::Pass, at);
  if (lexer_.accept_word("import") || lexer_.accept_word("from")) {
    lexer_.skip_line();  // as at the top of the file
    return start(StatementKind::Pass, at);
  }
  if (lexer_.accept_word("break")) return jump_statement(StatementKind::Break, at, "break");
  if (lexer_.accept_word("continue")) return jump_statement(StatementKind::Continue, at, "continue");
  if (lexer_.accept_word("raise")) return raise_statement(at);
  if (lexer_.accept_word("return")) {
    Statement result = start(StatementKind::Return, at);
    if (!lexer_.at_statement_end()) result.value = expressions_.expression_list();
    return result;
  }
  if (lexer_.accept_word("assert")) {
    Statement result = start(StatementKind::Assert, at);
    result.value = expressions_.expression();
    if (lexer_.accept(',')) result.message = expressions_.expression();
    return result;
  }
  return assignment();
}

// "+=", "//=", … of an operator that plans have
bool StatementReader::accept_augmented(Operator& op) {
  const fx::OperatorRow* row = fx::operator_at(lexer_.at(), true);
  const auto found = row ? find_operator(row->target.substr(0, row->target.size() - 1)) : std::nullopt;
  if (!found) return false;
  op = *found;
  lexer_.take(row->target.size());
  return true;
}

// assignment := [NAME ":" annotation | list] ("=" list)* | NAME ("+=" | "-=" | …) list
Statement StatementReader::assignment() {
  Statement result = start(StatementKind::Evaluate, lexer_.at());
  result.value = expressions_.expression_list();
  if (accept_augmented(result.op)) {
    result.kind = StatementKind::AugmentAssign;
    expressions_.check_target(*result.value);
    if (result.value->kind != ExprKind::Name) lexer_.expected("a plain name before the operator");
    result.targets.push_back(result.value);
    result.value = expressions_.expression_list();
    return result;
  }
  if (lexer_.peek() == ':' && result.value->kind == ExprKind::Name) {
    lexer_.take(1);
    expressions_.expression();
    if (!lexer_.at_assign()) return start(StatementKind::Pass, lexer_.at());
  }
  while (lexer_.at_assign()) {
    result.kind = StatementKind::Assign;
    expressions_.check_target(*result.value);
    lexer_.accept('=');
    result.targets.push_back(result.value);
    result.value = expressions_.expression_list();
  }
  return result;
}

// if := "if" expression ":" block ("elif" expression ":" block)* ["else" ":" block]
Statement StatementReader::if_statement(const char* at) {
  const fx::Lexer::Nest nest(lexer_);
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::If, at);
  result.value = expressions_.expression();
  lexer_.expect(':', "':'");
  result.body = block(indent);
  if (lexer_.at_end() || line_indent_ != indent) return result;
  const char* next = lexer_.at();
  if (lexer_.accept_word("elif")) {
    result.otherwise.push_back(if_statement(next));
  } else if (lexer_.accept_word("else")) {
    lexer_.expect(':', "':'");
    result.otherwise = block(indent);
  }
  return result;
}

// for := "for" target "in" list ":" block
Statement StatementReader::for_statement(const char* at) {
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::For, at);
  result.targets.push_back(expressions_.loop_target());
  if (!lexer_.accept_word("in")) lexer_.expected("'in'");
  result.value = expressions_.expression_list();
  result.body = loop_body(indent);
  return result;
}

// while := "while" expression ":" block
Statement StatementReader::while_statement(const char* at) {
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::While, at);
  result.value = expressions_.expression();
  result.body = loop_body(indent);
  return result;
}

// loop_body := ":" block; "break" and "continue" may stand in it
std::vector<Statement> StatementReader::loop_body(uint32_t parent_indent) {
  lexer_.expect(':', "':'");
  ++loops_;
  std::vector<Statement> body = block(parent_indent);
  --loops_;
  return body;
}

// nested := "def" NAME "(" NAME ")" ":" "return" list; it is NAME = lambda NAME: list, the usual form of a grid
Statement StatementReader::nested_function(const char* at) {
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::Assign, at);
  const char* name_at = lexer_.at();
  const std::string_view name = lexer_.name();
  if (name.empty()) lexer_.expected("the name of a function");
  lexer_.skip();
  std::string_view parameter;
  if (lexer_.open_bracket('(')) {
    parameter = lexer_.name();
    lexer_.skip();
    if (parameter.empty()) lexer_.expected("the parameter of a grid, as in 'def grid(meta):'");
    lexer_.close_bracket(')');
  }
  lexer_.expect(':', "':'");
  std::vector<Statement> body = block(indent);
  std::erase_if(body, [](const Statement& one) { return one.kind == StatementKind::Pass; });
  if (!lexer_.failed() && (body.size() != 1 || body[0].kind != StatementKind::Return || body[0].value == nullptr)) {
    lexer_.fail(at, "outside the plan language: found a function inside a function that does more than return a value",
                "make it a function of the file", Error::Kind::BadPass);
  }
  if (lexer_.failed()) return result;
  result.targets.push_back(expressions_.name(name_at, name));
  result.value = expressions_.lambda(at, parameter, body[0].value);
  return result;
}

Statement StatementReader::jump_statement(StatementKind kind, const char* at, std::string_view word) {
  if (loops_ == 0) lexer_.fail(at, fmt::format("{} outside a loop", quoted(word)), {}, Error::Kind::BadPass);
  return start(kind, at);
}

// raise := "raise" NAME ["(" [expression] ")"]
Statement StatementReader::raise_statement(const char* at) {
  Statement result = start(StatementKind::Raise, at);
  result.name = lexer_.name();
  if (result.name.empty()) lexer_.expected("the name of an exception");
  lexer_.skip();
  if (lexer_.peek() != '(') return result;
  lexer_.open_bracket();
  if (lexer_.peek() != ')') result.message = expressions_.expression();
  lexer_.close_bracket(')');
  return result;
}

}  // namespace passnet::pass
