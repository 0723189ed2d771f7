// Expressions in brackets: tuples, lists, comprehensions, calls, subscripts.
#include "base/text/strings.h"
#include "pass/plan/syntax/expression.h"

namespace passnet::pass {

// item := ["*"] expression
const Expr* ExpressionReader::item() {
  const char* at = lexer_.at();
  return lexer_.accept('*') ? make(ExprKind::Star, at, {expression()}) : expression();
}

// "(" ")" | "(" expression ")" | "(" expression "," … ")"
const Expr* ExpressionReader::parenthesis(const char* at) {
  lexer_.open_bracket();
  Children items;
  bool is_tuple = lexer_.peek() == ')';
  while (!lexer_.at_end() && lexer_.peek() != ')') {
    const char* word_at = (items.push_back(item()), lexer_.at());
    if (items.size() == 1 && lexer_.accept_word("for"))
      items[0] = comprehension(ExprKind::Comprehension, word_at, items[0]);
    if (lexer_.peek() != ',') break;
    is_tuple = true;
    lexer_.take(1);
  }
  lexer_.close_list(')');
  return is_tuple || items.empty() ? make(ExprKind::Tuple, at, std::move(items)) : items.front();
}

// "[" "]" | "[" expression ("," expression)* [","] "]" | "[" comprehension "]"
const Expr* ExpressionReader::list(const char* at) {
  lexer_.open_bracket();
  Children items;
  const Expr* result = nullptr;
  while (!lexer_.at_end() && lexer_.peek() != ']') {
    const char* word_at = (items.push_back(item()), lexer_.at());
    if (items.size() == 1 && lexer_.accept_word("for")) {
      result = comprehension(ExprKind::Comprehension, word_at, items[0]);
      break;
    }
    if (!lexer_.accept(',')) break;
  }
  lexer_.close_list(']');
  return result ? result : make(ExprKind::List, at, std::move(items));
}

// "{" [expression ":" expression ("," …)* [","]] "}" | "{" expression ":" expression comprehension "}"
const Expr* ExpressionReader::dict(const char* at) {
  lexer_.open_bracket();
  Children items;
  const Expr* result = nullptr;
  while (!lexer_.at_end() && lexer_.peek() != '}') {
    items.push_back(expression());
    if (lexer_.peek() == ',' || lexer_.peek() == '}') {
      outside(at, "a set");
      break;
    }
    lexer_.expect(':', "':'");
    items.push_back(expression());
    const char* word_at = lexer_.at();
    if (items.size() == 2 && lexer_.accept_word("for")) {
      result = comprehension(ExprKind::DictComprehension, word_at, make(ExprKind::Tuple, at, items));
      break;
    }
    if (!lexer_.accept(',')) break;
  }
  lexer_.close_list('}');
  return result ? result : make(ExprKind::Dict, at, std::move(items));
}

// comprehension := expression clause+; clause := "for" target "in" disjunction ("if" disjunction)*
const Expr* ExpressionReader::comprehension(ExprKind kind, const char* at, const Expr* element) {
  const fx::Lexer::Nest nest(lexer_);
  Children children{element};
  const char* clause_at = at;
  do {
    Children clause{loop_target()};
    if (!lexer_.accept_word("in")) lexer_.expected("'in'");
    clause.push_back(disjunction());
    while (lexer_.accept_word("if")) clause.push_back(disjunction());
    children.push_back(make(ExprKind::ForClause, clause_at, std::move(clause)));
    clause_at = lexer_.at();
  } while (lexer_.accept_word("for"));
  return make(kind, at, std::move(children));
}

// target := NAME | target ("," target)* | "(" target … ")"
const Expr* ExpressionReader::loop_target() {
  const char* at = lexer_.at();
  Children names;
  bool is_tuple = false;
  do {
    names.push_back(primary());
    check_target(*names.back());
    is_tuple |= lexer_.peek() == ',';
  } while (lexer_.accept(','));
  return is_tuple ? make(ExprKind::Tuple, at, std::move(names)) : names.front();
}

// "(" [argument ("," argument)* [","]] ")"; argument := [NAME "="] expression | item | "**" expression | expression "for" …
const Expr* ExpressionReader::call(const Expr* callee) {
  lexer_.open_bracket();
  Children children{callee};
  std::vector<KeywordExpr> keywords;
  while (!lexer_.at_end() && lexer_.peek() != ')') {
    const char* at = lexer_.at();
    if (fx::is_power_at(at)) {
      lexer_.take(2);
      keywords.push_back({{}, expression()});
      if (!lexer_.accept(',')) break;
      continue;
    }
    const Expr* value = item();
    if (value->kind == ExprKind::Name && lexer_.at_assign()) {
      lexer_.take(1);
      keywords.push_back({value->name, expression()});
    } else if (!keywords.empty()) {
      lexer_.fail(at, "positional argument after a keyword argument", {}, Error::Kind::BadPass);
    } else {
      const char* word_at = lexer_.at();
      if (lexer_.accept_word("for")) value = comprehension(ExprKind::Comprehension, word_at, value);
      children.push_back(value);
    }
    if (!lexer_.accept(',')) break;
  }
  lexer_.close_list(')');
  for (const KeywordExpr& keyword : keywords) children.push_back(keyword.value);
  Expr* expr = make(ExprKind::Call, lexer_.at(), std::move(children));
  expr->children.resize(expr->children.size() - keywords.size());  // listed for the depth only
  expr->offset = callee->offset;
  expr->keywords = std::move(keywords);
  return expr;
}

// "[" item ("," item)* [","] "]"
const Expr* ExpressionReader::subscript(const Expr* object) {
  const char* at = lexer_.at();
  lexer_.open_bracket();
  Children items;
  bool is_tuple = false;
  while (!lexer_.at_end() && lexer_.peek() != ']') {
    items.push_back(subscript_item());
    if (lexer_.peek() != ',') break;
    is_tuple = true;
    lexer_.take(1);
  }
  if (items.empty()) lexer_.expected("an index");
  lexer_.close_list(']');
  const Expr* index = is_tuple || items.empty() ? make(ExprKind::Tuple, at, std::move(items)) : items.front();
  Expr* expr = make(ExprKind::Subscript, at, {object, index});
  expr->offset = object->offset;
  return expr;
}

// item := expression | [expression] ":" [expression] [":" [expression]]
const Expr* ExpressionReader::subscript_item() {
  const char* at = lexer_.at();
  const auto part = [&]() -> const Expr* {
    return lexer_.peek() == ':' || lexer_.peek() == ',' || lexer_.peek() == ']' ? nullptr : expression();
  };
  const Expr* start = part();
  if (lexer_.peek() != ':') return start ? start : (lexer_.expected("an index"), make(ExprKind::Literal, at));
  lexer_.take(1);
  const Expr* stop = part();
  const Expr* step = lexer_.accept(':') ? part() : nullptr;
  return make(ExprKind::Slice, at, {start, stop, step});
}

}  // namespace passnet::pass
