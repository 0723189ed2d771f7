#include "fx/syntax/expression.h"

#include <fmt/format.h>

#include <limits>

#include "base/text/strings.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::NodeKind;

namespace {

constexpr size_t kMaxSharedElements = 65536;
constexpr std::string_view kExpressionHint =
    "a graph is straight-line code: calls, operators, indexing, and one return";

// The known name nearest to one that is not defined; empty when none is near. Bounded for hostile texts.
std::string nearest_hint(const Scope& scope, std::string_view name) {
  constexpr size_t kMaxName = 256, kMaxCandidates = 10000;
  if (name.size() > kMaxName) return {};
  std::vector<std::string_view> candidates;
  for (const Binding& binding : scope.bindings()) {
    const bool usable = binding.kind == Binding::Kind::Value || binding.kind == Binding::Kind::Module;
    if (usable && binding.name.size() <= kMaxName && candidates.size() < kMaxCandidates)
      candidates.push_back(binding.name);
  }
  const std::string_view nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : fmt::format("did you mean {}?", quoted(nearest));
}

std::optional<Arg> negated(const Arg& literal) {
  if (literal.kind == ArgKind::Float) return Arg::of_float(-literal.real);
  if (literal.kind == ArgKind::Int && literal.integer != std::numeric_limits<int64_t>::min())
    return Arg::of_int(-literal.integer);
  return std::nullopt;
}

bool is_container(const Arg& arg) {
  return arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List || arg.kind == ArgKind::Slice;
}

}  // namespace

ir::NodeId ExpressionReader::add(NodeKind kind, std::string_view target, std::span<const Arg> args, const char* at,
                                 std::span<const ir::Keyword> keywords) {
  if (graph_.size() >= kMaxNodes) lexer_.fail(at, fmt::format("the graph is too large: more than {} nodes", kMaxNodes));
  const ir::NodeId id = graph_.add_node(kind, target, {}, args, keywords, place_.value_or(lexer_.offset(at)));
  unnamed.push_back({id, {}});
  return id;
}

// expression := binary operators by precedence over unary; comparisons do not chain
Arg ExpressionReader::expression() { return binary(kComparePrecedence); }

Arg ExpressionReader::expression_after(std::string_view name) {
  const Lexer::Nest nest(lexer_);
  const char* at = name.data();
  return climb(power(name_value(name), at), at, kComparePrecedence);
}

// tuple := expression ("," expression)* [","]
Arg ExpressionReader::rest_of_tuple(const Arg& first) {
  const size_t base = stack_.size();
  stack_.push_back(first);
  while (lexer_.accept(',') && !lexer_.at_statement_end() && lexer_.peek() != '=') stack_.push_back(expression());
  const Arg tuple = graph_.make_container(ArgKind::Tuple, std::span(stack_).subspan(base));
  stack_.resize(base);
  return tuple;
}

Arg ExpressionReader::binary(uint8_t precedence) {
  const char* at = lexer_.at();
  return climb(unary(), at, precedence);
}

Arg ExpressionReader::climb(Arg left, const char* at, uint8_t precedence) {
  for (;;) {
    const OperatorRow* row = operator_at(lexer_.at(), false);
    if (row == nullptr || row->precedence < precedence) return left;
    lexer_.take(row->target.size());
    const Arg right = binary(static_cast<uint8_t>(row->precedence + 1));
    left = add_arg(NodeKind::Operator, row->target, {left, right}, at);
    if (row->form != OperatorForm::Compare) continue;
    const OperatorRow* next = operator_at(lexer_.at(), false);
    if (next != nullptr && next->form == OperatorForm::Compare) {
      lexer_.fail(lexer_.at(), "chained comparisons are not part of the graph language", "write (a < b) & (b < c)");
    }
  }
}

// unary := ("-" | "+" | "~") unary | power
Arg ExpressionReader::unary() {
  const Lexer::Nest nest(lexer_);
  const char* at = lexer_.at();
  if (lexer_.accept('-')) return minus(at);
  if (lexer_.accept('~')) return add_arg(NodeKind::Operator, "invert", {unary()}, at);
  if (!lexer_.accept('+')) return power(primary(), at);
  const Arg operand = unary();
  if (operand.kind == ArgKind::Int || operand.kind == ArgKind::Float) return operand;
  return add_arg(NodeKind::Operator, "pos", {operand}, at);
}

// A sign before a number belongs to the literal, except in -2 ** x, which is -(2 ** x).
Arg ExpressionReader::minus(const char* at) {
  const char* number_at = lexer_.at();
  Arg operand;
  if (lexer_.at_digit()) {
    const Arg literal = lexer_.number(true);
    if (!is_power_at(lexer_.at())) return literal;
    operand = power(negated(literal).value_or(literal), number_at);
  } else {
    operand = unary();
  }
  if (const auto literal = negated(operand)) return *literal;
  return add_arg(NodeKind::Operator, "neg", {operand}, at);
}

// power := primary ["**" unary]
Arg ExpressionReader::power(const Arg& base, const char* at) {
  if (!is_power_at(lexer_.at())) return base;
  lexer_.take(2);
  const Arg exponent = unary();
  return add_arg(NodeKind::Operator, "**", {base, exponent}, at);
}

// primary := (NAME | number | string | "..." | "(" … ")" | "[" … "]") (("." NAME) | call | "[" index "]")*
Arg ExpressionReader::primary() {
  const char* at = lexer_.at();
  if (lexer_.at_name()) {
    const std::string_view name = lexer_.name();
    if (lexer_.at_quote() && name.size() <= 2) return postfix(text(name), at);
    lexer_.skip();
    return name_value(name);
  }
  if (lexer_.at_digit()) return postfix(lexer_.number(false), at);
  switch (lexer_.peek()) {
    case '"':
    case '\'': return postfix(text({}), at);
    case '(': return postfix(parenthesis(), at);
    case '[': return postfix(list(), at);
    case '{': lexer_.fail(at, "dictionaries and sets are not part of the graph language"); return {};
    case '.':
      if (lexer_.at_number()) return lexer_.number(false);
      if (!lexer_.at_ellipsis()) break;
      lexer_.take(3);
      return Arg::ellipsis();
    default: break;
  }
  lexer_.expected("an expression");
  return {};
}

Arg ExpressionReader::text(std::string_view prefix) {
  const std::string_view value = lexer_.string(scratch_, prefix);
  return Arg::of_text(ArgKind::String, value.data() == scratch_.data() ? graph_.intern(value) : value);
}

Arg ExpressionReader::name_value(std::string_view name) {
  switch (name.front()) {
    case 'N':
      if (name == "None") return {};
      break;
    case 'T':
      if (name == "True") return Arg::of_bool(true);
      break;
    case 'F':
      if (name == "False") return Arg::of_bool(false);
      break;
    case 'E':
      if (name == "Ellipsis") return Arg::ellipsis();
      break;
    default: break;
  }
  const Binding* binding = scope_.find(name);
  if (binding == nullptr || binding->kind == Binding::Kind::Unbound) return missing_name(name);
  if (binding->kind == Binding::Kind::Module) return dotted(binding->value.string(), name);
  if (binding->kind == Binding::Kind::Items) return item_of(name);
  if (binding->kind == Binding::Kind::Lambda) return call_lambda(*binding, name);
  const Arg* value = value_of(name);
  if (value == nullptr) return {};
  // `relu = torch.relu` gives a function another name.
  const bool is_used = lexer_.peek() == '(' || lexer_.peek() == '.';
  if (value->kind == ArgKind::Constant && is_used) return dotted(value->string(), name);
  return postfix(*value, name.data());
}

const Arg* ExpressionReader::value_of(std::string_view name) {
  Binding* binding = scope_.find(name);
  if (binding == nullptr || binding->kind == Binding::Kind::Unbound) {
    missing_name(name);
    return nullptr;
  }
  if (binding->kind == Binding::Kind::Dead) {
    lexer_.fail(name.data(), fmt::format("{} is used after it was set to None", quoted(name)),
                "a name set to None has ended its life; drop that statement or use the name before it");
    return nullptr;
  }
  if (binding->kind == Binding::Kind::Module) {
    lexer_.fail(name.data(), fmt::format("found the module {}, expected a value", quoted(name)));
    return nullptr;
  }
  if (binding->kind == Binding::Kind::Items) {
    lexer_.fail(name.data(), fmt::format("found all of {}, expected one of its items", quoted(name)));
    return nullptr;
  }
  if (binding->kind == Binding::Kind::Lambda) {
    lexer_.fail(name.data(), fmt::format("found the lambda {}, expected a call of it", quoted(name)));
    return nullptr;
  }
  if (is_container(binding->value) && (shared_elements_ += binding->value.count) > kMaxSharedElements) {
    lexer_.fail(name.data(),
                fmt::format("tuples used by name hold too many elements: more than {}", kMaxSharedElements));
    return nullptr;
  }
  return &binding->value;
}

// Not bound: Python's own slice(…) and float('inf'), else an error.
Arg ExpressionReader::missing_name(std::string_view name) {
  const char* at = name.data();
  if (lexer_.peek() == '(' && name == "slice") return slice(at);
  if (lexer_.peek() == '(' && name == "float") return float_of_text(at);
  if (is_keyword(name)) {
    lexer_.fail(at, fmt::format("{} is not part of the graph language", quoted(name)), std::string(kExpressionHint));
  } else if (name == "device" || name == "inf" || name == "nan") {
    lexer_.fail(at, fmt::format("name {} is not defined", quoted(name)),
                fmt::format("add 'from torch import {}'", name));
  } else if (name == "torch") {
    lexer_.fail(at, "name 'torch' is not defined", "add 'import torch'");
  } else if (lexer_.accept_word("for")) {
    lexer_.fail(at, "comprehensions are not part of the graph language", std::string(kExpressionHint));
  } else if (lexer_.peek() == ':' && lexer_.peek(1) == '=') {
    lexer_.fail(lexer_.at(), "':=' is not part of the graph language", std::string(kExpressionHint));
  } else {
    const bool is_call = lexer_.peek() == '(';
    std::string hint = nearest_hint(scope_, name);
    if (hint.empty() && is_call) hint = "graphs call functions of imported modules and methods of tensors";
    lexer_.fail(at, fmt::format("{} {} is not defined", is_call ? "function" : "name", quoted(name)), std::move(hint));
  }
  return {};
}

// The function of torch that a tuple or list holds at an index; null: it holds something else.
const Arg* ExpressionReader::function_at(const Arg& object, const Arg& index) const {
  if (!is_container(object) || object.kind == ArgKind::Slice || index.kind != ArgKind::Int) return nullptr;
  const auto elements = graph_.elements(object);
  const int64_t count = std::ssize(elements), place = index.integer < 0 ? index.integer + count : index.integer;
  if (place < 0 || place >= count) return nullptr;
  const Arg& element = elements[static_cast<size_t>(place)];
  return element.kind == ArgKind::Constant && lexer_.peek() == '(' ? &element : nullptr;
}

Arg ExpressionReader::postfix(Arg object, const char* at) {
  for (;;) {
    switch (lexer_.peek()) {
      case '.': object = member(object, at); break;
      case '[': {
        const Arg index = subscript();
        if (watch_store && lexer_.at_assign()) {
          store = Store{object, index};
          return object;
        }
        if (const Arg* function = function_at(object, index)) return dotted(function->string(), {at, 1});
        object = add_arg(NodeKind::Operator, "getitem", {object, index}, at);
        break;
      }
      case '(':
        lexer_.fail(lexer_.at(), "found a call of a value, expected a call of a torch function or of a tensor's method",
                    "modules cannot be called here; use the functions of torch.nn.functional");
        return {};
      default: return object;
    }
  }
}

// member := "." NAME ["(" arguments ")"]
Arg ExpressionReader::member(const Arg& object, const char* at) {
  lexer_.take(1);
  const std::string_view name = lexer_.name();
  if (name.empty() || is_keyword(name)) {
    if (!name.empty()) lexer_.jump(name.data());
    lexer_.expected("the name of a method or attribute");
    return {};
  }
  lexer_.skip();
  if (lexer_.peek() != '(') return add_arg(NodeKind::Attribute, name, {object}, at);
  stack_.push_back(object);
  Arguments seen = arguments();
  --seen.first;
  const ir::NodeId id = add(NodeKind::CallMethod, name, given(seen), at, named(seen));
  drop(seen);
  return Arg::of_node(id);
}

// index := item ("," item)* [","];  item := expression | [expression] ":" [expression] [":" [expression]]
Arg ExpressionReader::subscript() {
  lexer_.open_bracket();
  const Arg first = subscript_item();
  if (lexer_.peek() != ',') {
    lexer_.close_list(']');
    return first;
  }
  const size_t base = stack_.size();
  stack_.push_back(first);
  while (lexer_.accept(',') && lexer_.peek() != ']') stack_.push_back(subscript_item());
  const Arg tuple = graph_.make_container(ArgKind::Tuple, std::span(stack_).subspan(base));
  stack_.resize(base);
  lexer_.close_list(']');
  return tuple;
}

Arg ExpressionReader::subscript_item() {
  Arg parts[3];
  size_t colons = 0;
  for (;;) {
    const char next = lexer_.peek();
    const bool empty = next == ':' || ((next == ',' || next == ']') && colons > 0);
    if (!empty) parts[colons] = expression();
    if (colons == 2 || !lexer_.accept(':')) break;
    ++colons;
  }
  return colons == 0 ? parts[0] : graph_.make_container(ArgKind::Slice, parts);
}

// parenthesis := "(" ")" | "(" expression ")" | "(" expression "," [expression ("," expression)* [","]] ")"
Arg ExpressionReader::parenthesis() {
  lexer_.open_bracket();
  const size_t base = stack_.size();
  if (lexer_.peek() != ')') {
    const Arg first = expression();
    if (lexer_.peek() == ')') {
      lexer_.close_bracket(')');
      return first;
    }
    stack_.push_back(first);
  }
  return elements(ArgKind::Tuple, base, ')');
}

// list := "[" [expression ("," expression)* [","]] "]"
Arg ExpressionReader::list() {
  lexer_.open_bracket();
  const size_t base = stack_.size();
  if (lexer_.peek() != ']') stack_.push_back(expression());
  return elements(ArgKind::List, base, ']');
}

Arg ExpressionReader::elements(ArgKind kind, size_t base, char close) {
  while (lexer_.accept(',') && lexer_.peek() != close) stack_.push_back(expression());
  const Arg container = graph_.make_container(kind, std::span(stack_).subspan(base));
  stack_.resize(base);
  lexer_.close_list(close);
  return container;
}

}  // namespace passnet::fx
