#include "pass/plan/syntax/statement.h"

#include <fmt/format.h>

#include "base/text/strings.h"

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

std::vector<Statement> StatementReader::file() {
  std::vector<Statement> body;
  next_line();
  while (!lexer_.at_end()) {
    if (line_indent_ != 0) {
      lexer_.fail(lexer_.at(), "unexpected indentation at the top level of the file", {}, Error::Kind::BadPass);
      break;
    }
    statement(body);
  }
  return body;
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

// statement := if | for | while | try | with | def | decorated | simple_line
void StatementReader::statement(std::vector<Statement>& out) {
  const char* at = lexer_.at();
  if (lexer_.accept_word("if"))
    out.push_back(if_statement(at));
  else if (lexer_.accept_word("for"))
    out.push_back(for_statement(at));
  else if (lexer_.accept_word("while"))
    out.push_back(while_statement(at));
  else if (lexer_.accept_word("try"))
    out.push_back(try_statement(at));
  else if (lexer_.accept_word("with"))
    out.push_back(with_statement(at));
  else if (lexer_.accept_word("class"))
    out.push_back(class_statement(at));
  else if (*at == '@')
    out.push_back(decorated(at));
  else if (lexer_.accept_word("def"))
    out.push_back(definition(at));
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
// "continue" | import | from | ("global" | "nonlocal") NAME ("," NAME)*
//                   | STRING (a comment) | assignment | expression
Statement StatementReader::simple_statement() {
  const char* at = lexer_.at();
  if (lexer_.at_quote()) {
    std::string scratch;
    lexer_.string(scratch);
    return start(StatementKind::Pass, at);
  }
  if (lexer_.accept_word("pass")) return start(StatementKind::Pass, at);
  if (lexer_.accept_word("import")) return import_statement(at);
  if (lexer_.accept_word("from")) return from_statement(at);
  if (lexer_.accept_word("global")) {
    global_statement(at);
    return start(StatementKind::Pass, at);
  }
  if (lexer_.accept_word("break")) return jump_statement(StatementKind::Break, at, "break");
  if (lexer_.accept_word("continue")) return jump_statement(StatementKind::Continue, at, "continue");
  if (lexer_.accept_word("raise")) return raise_statement(at);
  if (lexer_.accept_word("return")) {
    if (function_ == nullptr) lexer_.fail(at, "'return' outside a function", {}, Error::Kind::BadPass);
    Statement result = start(StatementKind::Return, at);
    if (!lexer_.at_statement_end()) result.value = expressions_.expression_list();
    return result;
  }
  if (lexer_.accept_word("del")) {
    Statement result = start(StatementKind::Delete, at);
    const Expr* targets = expressions_.expression_list();
    result.targets = targets->kind == ExprKind::Tuple ? targets->children : std::vector<const Expr*>{targets};
    for (const Expr* target : result.targets) expressions_.check_target(*target);
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

// assignment := [target ":" annotation | list] ("=" list)* | target ("+=" | "-=" | …) list
Statement StatementReader::assignment() {
  Statement result = start(StatementKind::Evaluate, lexer_.at());
  result.value = expressions_.expression_list();
  if (accept_augmented(result.op)) {
    result.kind = StatementKind::AugmentAssign;
    expressions_.check_target(*result.value);
    if (result.value->kind == ExprKind::Tuple) lexer_.expected("a plain name before the operator");
    result.targets.push_back(result.value);
    result.value = expressions_.expression_list();
    return result;
  }
  const ExprKind first = result.value->kind;
  if (lexer_.peek() == ':' && (first == ExprKind::Name || first == ExprKind::Attribute)) {
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

Statement StatementReader::jump_statement(StatementKind kind, const char* at, std::string_view word) {
  if (loops_ == 0) lexer_.fail(at, fmt::format("{} outside a loop", quoted(word)), {}, Error::Kind::BadPass);
  return start(kind, at);
}

// raise := "raise" [expression ["from" expression]]
Statement StatementReader::raise_statement(const char* at) {
  Statement result = start(StatementKind::Raise, at);
  if (lexer_.at_statement_end()) return result;
  result.value = expressions_.expression();
  if (lexer_.accept_word("from")) expressions_.expression();
  return result;
}

// try := "try" ":" block ("except" [expression ["as" NAME]] ":" block)* ["else" ":" block] ["finally" ":" block]
Statement StatementReader::try_statement(const char* at) {
  const fx::Lexer::Nest nest(lexer_);
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::Try, at);
  lexer_.expect(':', "':'");
  result.body = block(indent);
  const auto goes_on = [&](std::string_view word) {
    return !lexer_.at_end() && line_indent_ == indent && lexer_.accept_word(word);
  };
  while (goes_on("except")) result.handlers.push_back(handler(indent));
  const auto last = [&](std::string_view word) {
    if (!goes_on(word)) return std::vector<Statement>();
    lexer_.expect(':', "':'");
    return block(indent);
  };
  result.otherwise = last("else");
  const bool is_complete = !result.handlers.empty();
  const char* behind = lexer_.at();
  result.finally = last("finally");
  if (!is_complete && behind == lexer_.at()) lexer_.expected("'except' or 'finally'");
  return result;
}

Handler StatementReader::handler(uint32_t parent_indent) {
  Handler read;
  if (lexer_.peek() != ':') {
    const Expr* types = expressions_.expression();
    const std::vector<const Expr*> one{types};
    for (const Expr* type : types->kind == ExprKind::Tuple ? types->children : one) {
      if (type->name.empty()) lexer_.fail(program_.text->data() + type->offset, "expected the name of an exception");
      read.exceptions.push_back(type->name);
    }
    if (lexer_.accept_word("as")) {
      read.bound = lexer_.name();
      if (read.bound.empty()) lexer_.expected("a name for the exception");
      lexer_.skip();
    }
  }
  lexer_.expect(':', "':'");
  read.body = block(parent_indent);
  return read;
}

// with := "with" expression ["as" target] ("," …)* ":" block
Statement StatementReader::with_statement(const char* at) {
  const uint32_t indent = line_indent_;
  Statement result = start(StatementKind::With, at);
  result.value = expressions_.expression_list();
  if (lexer_.peek() == 'a') expressions_.outside(lexer_.at(), "'as' after 'with'");
  lexer_.expect(':', "':'");
  result.body = block(indent);
  return result;
}

// Names that a function shares with the file. Those of `nonlocal` stay outside: a plan's inner functions only read.
void StatementReader::global_statement(const char* at) {
  do {
    const std::string_view name = lexer_.name();
    if (name.empty()) return lexer_.expected("the name of a global variable");
    lexer_.skip();
    if (function_ != nullptr) function_->globals.insert(name);
    program_.names.insert(name);
  } while (lexer_.accept(','));
  if (!lexer_.at_statement_end()) lexer_.fail(at, "expected names after 'global'", {}, Error::Kind::BadPass);
}

}  // namespace passnet::pass
