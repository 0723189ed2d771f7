#include "graphdir/inputs/shape_expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/python_number.h"
#include "base/text/strings.h"

namespace passnet::graphdir {

namespace {

using Operation = ShapeExpression::Kind;

// How an operator or function of two operands is written. precedence 0: a function.
struct Row {
  Operation kind;
  std::string_view text;
  uint8_t precedence;
};
constexpr uint8_t kSum = 1, kProduct = 2, kSign = 3, kPower = 4, kAtom = 5;
constexpr Row kRows[] = {
    {Operation::Add, "+", kSum},          {Operation::Subtract, "-", kSum},
    {Operation::Power, "**", kPower},  // before "*", which it begins with
    {Operation::Multiply, "*", kProduct}, {Operation::FloorDivide, "//", kProduct},
    {Operation::Modulo, "%", kProduct},   {Operation::Max, "Max", 0},
    {Operation::Min, "Min", 0},           {Operation::Modulo, "Mod", 0},
};

struct RelationRow {
  ShapeRelation::Kind kind;
  std::string_view function, symbol;  // symbol: empty where Python's operator means something else to sympy
};
constexpr RelationRow kShapeRelations[] = {
    {ShapeRelation::Kind::Equal, "Eq", ""},          {ShapeRelation::Kind::NotEqual, "Ne", ""},
    {ShapeRelation::Kind::LessEqual, "Le", "<="},    {ShapeRelation::Kind::Less, "Lt", "<"},
    {ShapeRelation::Kind::GreaterEqual, "Ge", ">="}, {ShapeRelation::Kind::Greater, "Gt", ">"},
};

ShapeExpression node(Operation kind, ShapeExpression a, ShapeExpression b) {
  ShapeExpression result{kind, 0, {}};
  result.operands.push_back(std::move(a));
  result.operands.push_back(std::move(b));
  return result;
}

class Reader {
 public:
  Reader(fx::Lexer& lexer, std::span<const std::string> symbols) : lexer_(lexer), symbols_(symbols) {}

  // expression := operand (operator operand)*, by precedence; "**" groups to the right
  ShapeExpression expression(uint8_t precedence) {
    ShapeExpression left = operand();
    for (;;) {
      const Row* row = lexer_.failed() ? nullptr : operator_here();
      if (row == nullptr && lexer_.peek() == '/')
        lexer_.fail(lexer_.at(), "found '/', expected '//': sizes are ints, and so are their quotients");
      if (row == nullptr || row->precedence < precedence) return left;
      lexer_.take(row->text.size());
      const bool is_power = row->kind == Operation::Power;
      left = node(row->kind, std::move(left), expression(is_power ? kSign : static_cast<uint8_t>(row->precedence + 1)));
    }
  }

 private:
  const Row* operator_here() {
    for (const Row& row : kRows) {
      if (row.precedence == 0) continue;
      if (lexer_.peek() == row.text[0] && (row.text.size() == 1 || lexer_.peek(1) == row.text[1])) return &row;
    }
    return nullptr;
  }

  // operand := "-" operand | int | SYMBOL | "(" expression ")" | function
  ShapeExpression operand() {
    const fx::Lexer::Nest nest(lexer_);
    const char* at = lexer_.at();
    if (++terms_ > kMaxShapeTerms) {
      lexer_.fail(at, fmt::format("the expression is too long: more than {} terms", kMaxShapeTerms));
      return {};
    }
    if (lexer_.accept('-')) {
      if (lexer_.at_digit()) {
        ShapeExpression literal = integer(true);
        if (lexer_.peek() != '*' || lexer_.peek(1) != '*') return literal;
        lexer_.jump(at), lexer_.take(1);  // -2**S0 is -(2**S0)
      }
      ShapeExpression result{Operation::Negative, 0, {}};
      result.operands.push_back(expression(kSign));
      return result;
    }
    if (lexer_.at_digit()) return integer(false);
    if (lexer_.peek() == '(') {
      lexer_.open_bracket();
      ShapeExpression inner = expression(kSum);
      lexer_.close_bracket(')');
      return inner;
    }
    const std::string_view name = lexer_.name();
    if (name.empty()) {
      lexer_.expected("a size: an int, a symbol or an expression of them");
      return {};
    }
    lexer_.skip();
    return lexer_.peek() == '(' ? function(name) : symbol(name);
  }

  ShapeExpression integer(bool negative) {
    const char* at = lexer_.at();
    const ir::Arg number = lexer_.number(negative);
    if (!lexer_.failed() && number.kind != ir::ArgKind::Int)
      lexer_.fail(at, "found a float, expected a size: sizes are ints");
    return {Operation::Integer, number.kind == ir::ArgKind::Int ? number.integer : 0, {}};
  }

  ShapeExpression symbol(std::string_view name) {
    const auto found = std::ranges::find(symbols_, name);
    if (found != symbols_.end()) return {Operation::Symbol, found - symbols_.begin(), {}};
    if (fx::is_keyword(name)) {
      lexer_.fail(name.data(),
                  fmt::format("found {}, expected a size: an int, a symbol or an expression of them", quoted(name)));
      return {};
    }
    lexer_.fail(name.data(), fmt::format("symbol {} is not defined", quoted(name)),
                fmt::format("add '{} = Symbol(\"{}\")' above", name, name));
    return {};
  }

  // function := ("Max" | "Min" | "Mod") "(" expression "," expression [","] ")"
  ShapeExpression function(std::string_view name) {
    const auto* row = std::ranges::find(kRows, name, &Row::text);
    if (row == std::end(kRows) || row->precedence > 0) {
      lexer_.fail(name.data(), fmt::format("unknown function {}, expected Max, Min or Mod", quoted(name)),
                  "divide with '//', as in S0 // 2");
      return {};
    }
    lexer_.open_bracket();
    ShapeExpression left = expression(kSum);
    if (!lexer_.expect(',', "','")) return {};
    ShapeExpression right = expression(kSum);
    lexer_.accept(',');
    lexer_.close_bracket(')');
    return node(row->kind, std::move(left), std::move(right));
  }

  fx::Lexer& lexer_;
  std::span<const std::string> symbols_;
  size_t terms_ = 0;
};

const Row& row_of(Operation kind) { return *std::ranges::find(kRows, kind, &Row::kind); }

// Brackets where what stands inside binds less tightly than `needed`.
void print(std::string& out, const ShapeExpression& expression, std::span<const std::string> symbols, uint8_t needed) {
  const auto print_operand = [&](size_t i, uint8_t precedence) {
    print(out, expression.operands[i], symbols, precedence);
  };
  const auto bracketed = [&](uint8_t precedence, auto&& body) {
    if (precedence < needed) out += '(';
    body();
    if (precedence < needed) out += ')';
  };
  switch (expression.kind) {
    case Operation::Integer:
      return bracketed(expression.value < 0 ? kSign : kAtom, [&] { out += std::to_string(expression.value); });
    case Operation::Symbol: out += symbols[static_cast<size_t>(expression.value)]; return;
    case Operation::Negative:
      return bracketed(kSign, [&] {
        // A sign directly before a number would become part of it.
        const bool number = expression.operands[0].is_integer();
        out += number ? "-(" : "-";
        print_operand(0, number ? 0 : kSign);
        if (number) out += ')';
      });
    default: break;
  }
  const Row& row = row_of(expression.kind);
  if (row.precedence == 0) {
    out += row.text, out += '(';
    print_operand(0, 0), out += ", ", print_operand(1, 0);
    out += ')';
    return;
  }
  const bool is_power = expression.kind == Operation::Power;
  bracketed(row.precedence, [&] {
    print_operand(0, is_power ? kAtom : row.precedence);
    out += is_power || expression.kind == Operation::Multiply ? std::string(row.text) : fmt::format(" {} ", row.text);
    print_operand(1, is_power ? kSign : static_cast<uint8_t>(row.precedence + 1));
  });
}

python::Integer apply(Operation kind, int64_t a, int64_t b) {
  switch (kind) {
    case Operation::Add: return python::add(a, b);
    case Operation::Subtract: return python::subtract(a, b);
    case Operation::Multiply: return python::multiply(a, b);
    case Operation::FloorDivide: return python::floor_divide(a, b);
    case Operation::Modulo: return python::modulo(a, b);
    case Operation::Power: return python::power(a, b);
    case Operation::Max: return std::max(a, b);
    case Operation::Min: return std::min(a, b);
    default: return std::nullopt;
  }
}

}  // namespace

bool ShapeExpression::is_symbolic() const {
  return kind == Operation::Symbol || std::ranges::any_of(operands, &ShapeExpression::is_symbolic);
}

ShapeExpression read_shape_expression(fx::Lexer& lexer, std::span<const std::string> symbols) {
  return Reader(lexer, symbols).expression(kSum);
}

ShapeRelation read_shape_relation(fx::Lexer& lexer, std::span<const std::string> symbols) {
  const char* at = lexer.at();
  const auto* row = std::ranges::find(kShapeRelations, lexer.name(), &RelationRow::function);
  ShapeRelation relation;
  if (row != std::end(kShapeRelations) && lexer.peek() == '(') {
    lexer.open_bracket();
    relation.left = read_shape_expression(lexer, symbols);
    if (!lexer.expect(',', "','")) return {};
    relation.right = read_shape_expression(lexer, symbols);
    lexer.accept(',');
    lexer.close_bracket(')');
    relation.kind = row->kind;
    return relation;
  }
  lexer.jump(at);
  relation.left = read_shape_expression(lexer, symbols);
  row = std::ranges::find_if(kShapeRelations, [&](const RelationRow& candidate) {
    const std::string_view text = candidate.symbol;
    return !text.empty() && lexer.peek() == text[0] && (text.size() == 1 || lexer.peek(1) == text[1]);
  });
  if (row == std::end(kShapeRelations)) {
    lexer.expected("a relation: <, <=, >, >=, or Eq(a, b)", "equality is written Eq(a, b) or Ne(a, b)");
    return {};
  }
  lexer.take(row->symbol.size());
  relation.kind = row->kind;
  relation.right = read_shape_expression(lexer, symbols);
  return relation;
}

std::string print_shape(const ShapeExpression& expression, std::span<const std::string> symbols) {
  std::string out;
  print(out, expression, symbols, 0);
  return out;
}

std::string print_shape(const ShapeRelation& relation, std::span<const std::string> symbols) {
  const auto* row = std::ranges::find(kShapeRelations, relation.kind, &RelationRow::kind);
  const std::string left = print_shape(relation.left, symbols), right = print_shape(relation.right, symbols);
  return row->symbol.empty() ? fmt::format("{}({}, {})", row->function, left, right)
                             : fmt::format("{} {} {}", left, row->symbol, right);
}

std::optional<int64_t> evaluate(const ShapeExpression& expression, std::span<const int64_t> values) {
  if (expression.is_integer()) return expression.value;
  if (expression.kind == Operation::Symbol) return values[static_cast<size_t>(expression.value)];
  const std::optional<int64_t> first = evaluate(expression.operands[0], values);
  if (!first) return std::nullopt;
  if (expression.kind == Operation::Negative) return apply(Operation::Subtract, 0, *first);
  const std::optional<int64_t> second = evaluate(expression.operands[1], values);
  return second ? apply(expression.kind, *first, *second) : std::nullopt;
}

std::optional<bool> evaluate(const ShapeRelation& relation, std::span<const int64_t> values) {
  const std::optional<int64_t> left = evaluate(relation.left, values), right = evaluate(relation.right, values);
  if (!left || !right) return std::nullopt;
  switch (relation.kind) {
    case ShapeRelation::Kind::Equal: return *left == *right;
    case ShapeRelation::Kind::NotEqual: return *left != *right;
    case ShapeRelation::Kind::Less: return *left < *right;
    case ShapeRelation::Kind::LessEqual: return *left <= *right;
    case ShapeRelation::Kind::Greater: return *left > *right;
    case ShapeRelation::Kind::GreaterEqual: return *left >= *right;
  }
  return std::nullopt;
}

}  // namespace passnet::graphdir
