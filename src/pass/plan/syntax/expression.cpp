#include "pass/plan/syntax/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/text/strings.h"

namespace passnet::pass {

namespace {

constexpr std::string_view kAllowed =
    "a plan has functions, assignments, if/elif/else, while, for over range, zip, enumerate or a list, try, assert, "
    "raise, return, kernel launches, torch.empty and its kin, sizes and numbers; see docs/plan-language.md";

}  // namespace

void ExpressionReader::outside(const char* at, std::string_view found) {
  lexer_.fail(at, fmt::format("outside the plan language: found {}", found), std::string(kAllowed),
              Error::Kind::BadPass);
}

Expr* ExpressionReader::make(ExprKind kind, const char* at, Children children) {
  Expr& expr = program_.exprs.emplace_back();
  expr.kind = kind;
  expr.offset = lexer_.offset(at);
  for (const Expr* child : children) {
    if (child) expr.depth = std::max(expr.depth, child->depth + 1);
  }
  if (expr.depth > kMaxSyntaxDepth) {
    lexer_.fail(at, fmt::format("expression nested too deeply: expected at most {} levels", kMaxSyntaxDepth),
                "split it into several assignments", Error::Kind::BadPass);
  }
  expr.children = std::move(children);
  return &expr;
}

const Expr* ExpressionReader::make_binary(Operator op, const char* at, const Expr* left, const Expr* right) {
  Expr* expr = make(ExprKind::Binary, at, {left, right});
  expr->op = op;
  return expr;
}

const Expr* ExpressionReader::literal(const char* at, Value value) {
  Expr* expr = make(ExprKind::Literal, at);
  expr->value = std::move(value);
  return expr;
}

// list := item ("," item)* [","]
const Expr* ExpressionReader::expression_list() {
  const char* at = lexer_.at();
  const Expr* first = item();
  if (lexer_.peek() != ',') return first;
  Children items{first};
  while (lexer_.accept(',')) {
    if (lexer_.at_statement_end() || lexer_.at_assign() || lexer_.peek() == ':' || lexer_.peek() == ']') break;
    items.push_back(item());
  }
  return make(ExprKind::Tuple, at, std::move(items));
}

// expression := "lambda" parameters ":" expression | disjunction ["if" disjunction "else" expression]
const Expr* ExpressionReader::expression() {
  const fx::Lexer::Nest nest(lexer_);
  const char* at = lexer_.at();
  if (lexer_.accept_word("lambda")) return lambda(at);
  const Expr* value = disjunction();
  const char* condition_at = lexer_.at();
  if (!lexer_.accept_word("if")) return value;
  const Expr* condition = disjunction();
  if (!lexer_.accept_word("else")) lexer_.expected("'else'");
  const Expr* otherwise = expression();
  return make(ExprKind::Conditional, condition_at, {condition, value, otherwise});
}

// A function whose body is `return expression`.
const Expr* ExpressionReader::lambda(const char* at) {
  Function& function = program_.functions.emplace_back();
  function.name = "lambda";
  function.offset = lexer_.offset(at);
  function.parameters = parameters(':');
  for (const Parameter& parameter : function.parameters) function.locals.insert(parameter.name);
  function.outer = std::exchange(scope_, &function);
  lexer_.expect(':', "':'");
  Statement body;
  body.kind = StatementKind::Return;
  body.offset = lexer_.offset();
  body.value = expression();
  function.end = lexer_.offset();
  scope_ = function.outer;
  Expr* expr = make(ExprKind::Lambda, at, {body.value});
  function.body.push_back(std::move(body));
  expr->function = &function;
  return expr;
}

// parameters := [["*" | "**"] NAME [":" annotation] ["=" expression] ("," …)* [","]]
std::vector<Parameter> ExpressionReader::parameters(char close) {
  std::vector<Parameter> read;
  while (!lexer_.at_end() && lexer_.peek() != close) {
    const char* at = lexer_.at();
    if (*at == '/') {
      outside(at, lexer_.describe() + " in a signature");
      break;
    }
    if (*at == '*' && at[1] == ',') {  // what follows is given by keyword
      lexer_.take(2);
      continue;
    }
    const Parameter next = parameter(close == ')');
    const auto same = [&](const Parameter& other) { return other.name == next.name; };
    if (std::ranges::any_of(read, same)) {
      lexer_.fail(at, fmt::format("parameter {} is given twice", quoted(next.name)), {}, Error::Kind::BadPass);
    } else if (read.size() == kMaxArguments) {
      lexer_.fail(at, fmt::format("too many parameters: expected at most {}", kMaxArguments), {}, Error::Kind::BadPass);
    } else if (!read.empty() && read.back().kind == ParameterKind::Keywords) {
      lexer_.fail(at, "found a parameter after '**', expected it before", {}, Error::Kind::BadPass);
    }
    read.push_back(next);
    if (!lexer_.accept(',')) break;
  }
  return read;
}

Parameter ExpressionReader::parameter(bool annotated) {
  Parameter read;
  if (fx::is_power_at(lexer_.at())) {
    lexer_.take(2);
    read.kind = ParameterKind::Keywords;
  } else if (lexer_.accept('*')) {
    read.kind = ParameterKind::Variadic;
  }
  read.offset = lexer_.offset(lexer_.at());
  read.name = lexer_.name();
  if (read.name.empty()) {
    lexer_.expected("a parameter name");
    return read;
  }
  lexer_.skip();
  if (annotated && lexer_.accept(':')) {
    const char* from = lexer_.at();
    expression();
    if (lexer_.failed()) return read;
    read.annotation = trim(std::string_view(from, static_cast<size_t>(lexer_.at() - from)));
    // `x: "tl.constexpr"` says the same.
    if (read.annotation.size() > 1 && std::strchr("'\"", read.annotation.front()) != nullptr)
      read.annotation = read.annotation.substr(1, read.annotation.size() - 2);
  }
  if (lexer_.accept('=')) read.default_value = expression();
  return read;
}

const Expr* ExpressionReader::name(const char* at, std::string_view name) {
  Expr* expr = make(ExprKind::Name, at);
  expr->name = name;
  return expr;
}

// disjunction := conjunction ("or" conjunction)*
const Expr* ExpressionReader::disjunction() {
  const Expr* left = conjunction();
  for (const char* at = lexer_.at(); lexer_.accept_word("or"); at = lexer_.at()) {
    left = make(ExprKind::Or, at, {left, conjunction()});
  }
  return left;
}

// conjunction := negation ("and" negation)*
const Expr* ExpressionReader::conjunction() {
  const Expr* left = negation();
  for (const char* at = lexer_.at(); lexer_.accept_word("and"); at = lexer_.at()) {
    left = make(ExprKind::And, at, {left, negation()});
  }
  return left;
}

// negation := "not" negation | comparison
const Expr* ExpressionReader::negation() {
  const char* at = lexer_.at();
  if (!lexer_.accept_word("not")) return comparison();
  const fx::Lexer::Nest nest(lexer_);
  Expr* expr = make(ExprKind::Unary, at, {negation()});
  expr->op = Operator::Not;
  return expr;
}

// == != < <= > >= in, not in, is, is not
bool ExpressionReader::accept_comparison(Operator& op) {
  const char* at = lexer_.at();
  if (const fx::OperatorRow* row = fx::operator_at(at, false); row && row->form == fx::OperatorForm::Compare) {
    op = find_operator(row->target).value();
    lexer_.take(row->target.size());
  } else if (lexer_.accept_word("in")) {
    op = Operator::In;
  } else if (lexer_.accept_word("is")) {
    op = lexer_.accept_word("not") ? Operator::IsNot : Operator::Is;
  } else if (lexer_.accept_word("not") && lexer_.accept_word("in")) {
    op = Operator::NotIn;
  } else {
    lexer_.jump(at);
    return false;
  }
  return true;
}

// comparison := binary (operator binary)*; a chain compares neighbours
const Expr* ExpressionReader::comparison() {
  const Expr* first = binary(fx::kComparePrecedence + 1);
  const char* at = lexer_.at();
  Operator op{};
  if (!accept_comparison(op)) return first;
  Children operands{first};
  std::vector<Operator> operators;
  do {
    operators.push_back(op);
    operands.push_back(binary(fx::kComparePrecedence + 1));
  } while (accept_comparison(op));
  Expr* expr = make(ExprKind::Compare, at, std::move(operands));
  expr->operators = std::move(operators);
  return expr;
}

// binary := factor (OPERATOR factor)*, by the precedence of fx/syntax/operators.h
const Expr* ExpressionReader::binary(uint8_t precedence) {
  const Expr* left = factor();
  for (;;) {
    const char* at = lexer_.at();
    const fx::OperatorRow* row = fx::operator_at(at, false);
    const auto op = row && row->precedence >= precedence ? find_operator(row->target) : std::nullopt;
    if (!op) return left;
    lexer_.take(row->target.size());
    left = make_binary(*op, at, left, binary(static_cast<uint8_t>(row->precedence + 1)));
  }
}

// factor := ("-" | "+" | "~") factor | power
const Expr* ExpressionReader::factor() {
  const char* at = lexer_.at();
  if (*at != '-' && *at != '+' && *at != '~') return power();
  lexer_.take(1);
  const fx::Lexer::Nest nest(lexer_);
  Expr* expr = make(ExprKind::Unary, at, {factor()});
  expr->op = *at == '-' ? Operator::Negative : *at == '+' ? Operator::Positive : Operator::Invert;
  return expr;
}

// power := primary ["**" factor]
const Expr* ExpressionReader::power() {
  const Expr* base = primary();
  const char* at = lexer_.at();
  if (!fx::is_power_at(at)) return base;
  lexer_.take(2);
  const fx::Lexer::Nest nest(lexer_);
  return make_binary(Operator::Power, at, base, factor());
}

// primary := atom ("." NAME | "[" subscript "]" | "(" arguments ")")*
const Expr* ExpressionReader::primary() {
  const Expr* value = atom();
  for (;;) {
    if (lexer_.peek() == '.') {
      lexer_.take(1);
      const char* at = lexer_.at();
      const std::string_view name = lexer_.name();
      if (name.empty()) lexer_.expected("an attribute name");
      lexer_.skip();
      Expr* expr = make(ExprKind::Attribute, at, {value});
      expr->name = name;
      value = expr;
    } else if (lexer_.peek() == '[') {
      value = subscript(value);
    } else if (lexer_.peek() == '(') {
      value = call(value);
    } else {
      return value;
    }
  }
}

// atom := NAME | NUMBER | STRING | "(" … ")" | "[" … "]" | "{" … "}" | "..."
const Expr* ExpressionReader::atom() {
  const char* at = lexer_.at();
  if (lexer_.at_name()) return word(at);
  if (lexer_.at_number()) {
    const ir::Arg number = lexer_.number(false);
    return literal(at, number.kind == ir::ArgKind::Int ? Value(number.integer) : Value(number.real));
  }
  if (lexer_.at_quote()) {
    std::string scratch;
    const std::string_view text = lexer_.string(scratch);
    if (text.size() > kMaxStringBytes) {
      lexer_.fail(at, fmt::format("string too long: found {} bytes, expected at most {}", text.size(), kMaxStringBytes),
                  {}, Error::Kind::BadPass);
    }
    const Expr* first = literal(at, std::string(text.substr(0, kMaxStringBytes)));
    if (!accept_f_prefix()) return first;
    return make(ExprKind::Format, at, {first, f_string(at)});
  }
  if (lexer_.peek() == '(') return parenthesis(at);
  if (lexer_.peek() == '[') return list(at);
  if (lexer_.peek() == '{') return dict(at);
  if (lexer_.at_ellipsis()) return lexer_.take(3), literal(at, EllipsisValue{});
  if (lexer_.peek() != 0 && std::strchr("*`@$!?", lexer_.peek())) outside(at, lexer_.describe());
  lexer_.expected("an expression");
  return make(ExprKind::Literal, at);
}

// A name or one of the words that are values; a string prefix and other keywords are outside.
const Expr* ExpressionReader::word(const char* at) {
  const std::string_view name = lexer_.name();
  if (lexer_.at_quote()) {
    if (name == "f" || name == "F") return f_string(at);
    outside(at, fmt::format("a string with prefix {}", quoted(name)));
    return make(ExprKind::Literal, at);
  }
  if (fx::is_keyword(name) && name != "None" && name != "True" && name != "False") {
    outside(at, quoted(name));
    return make(ExprKind::Literal, at);
  }
  lexer_.skip();
  if (name == "None") return literal(at, NoneValue{});
  if (name == "NotImplemented") return literal(at, NotImplementedValue{});
  if (name == "Ellipsis") return literal(at, EllipsisValue{});
  if (name == "True" || name == "False") return literal(at, name == "True");
  return this->name(at, name);
}

bool ExpressionReader::accept_f_prefix() {
  const char* at = lexer_.at();
  if ((*at != 'f' && *at != 'F') || (at[1] != '"' && at[1] != '\'')) return false;
  lexer_.advance(1);
  return true;
}

// f_string := ("f" | "") STRING …; in those with a prefix "{{" and "}}" are brackets, and "{" expression "}" is its text
const Expr* ExpressionReader::f_string(const char* at) {
  Children pieces;
  bool has_fields = true;  // this string has the prefix
  do {
    const std::string_view body = lexer_.string_token();
    const char *behind = lexer_.at(), *next = body.data(), *end = next + body.size();
    if (lexer_.failed()) break;
    while (next < end && !lexer_.failed()) {
      const bool bracket = has_fields && (*next == '{' || *next == '}');
      if (bracket && (next + 1 == end || next[1] != *next)) {
        lexer_.jump(next);
        pieces.push_back(replacement_field(end));
        next = lexer_.at();
        continue;
      }
      const char* const from = next + (bracket ? 1 : 0);  // the second of two
      next = bracket ? next + 2 : std::find_if(next, end, [&](char c) { return has_fields && (c == '{' || c == '}'); });
      std::string text;
      lexer_.decode({from, static_cast<size_t>(next - from)}, text);
      pieces.push_back(literal(at, text.substr(0, kMaxStringBytes)));
    }
    lexer_.jump(behind);
    lexer_.skip();
    has_fields = accept_f_prefix();
  } while (!lexer_.failed() && lexer_.at_quote());
  return make(ExprKind::Format, at, std::move(pieces));
}

// field := "{" expression ["!" ("r" | "s")] [":" FORMAT] "}"
const Expr* ExpressionReader::replacement_field(const char* end) {
  if (!lexer_.accept('{')) {
    lexer_.expected("'}}' for a bracket in an f-string");
    return make(ExprKind::Literal, end);
  }
  const char* at = lexer_.at();
  const Expr* value = expression_list();
  const char* from = lexer_.at();
  const char* close = from < end ? std::find(from, end, '}') : end;
  if (lexer_.failed()) return value;
  if (close == end || (*from != '}' && *from != ':' && *from != '!')) {
    lexer_.expected("'}' after the expression of an f-string");
    return value;
  }
  if (std::find(from, close, '{') != close) {
    outside(from, "a format of an f-string with fields of its own");
    return value;
  }
  lexer_.jump(close + 1);
  if (close == from) return value;
  Expr* written = make(ExprKind::Formatted, at, {value});
  written->name = {from, static_cast<size_t>(close - from)};
  return written;
}

void ExpressionReader::check_target(const Expr& expr) {
  const char* at = program_.text->data() + expr.offset;
  switch (expr.kind) {
    case ExprKind::Name: return;
    case ExprKind::Tuple:
    case ExprKind::List:
      for (const Expr* item : expr.children) check_target(item->kind == ExprKind::Star ? *item->children[0] : *item);
      return;
    case ExprKind::Subscript:
    case ExprKind::Attribute: return;
    default: lexer_.fail(at, "cannot assign to an expression", "assign to a name", Error::Kind::BadPass);
  }
}

}  // namespace passnet::pass
