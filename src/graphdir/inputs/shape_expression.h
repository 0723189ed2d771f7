// Integer expressions over named sizes, as sympy writes them: `S0`, `S0*2 + 1`, `S0 // 16`, `Max(S0, 1)`;
// and relations between two of them. They are kept as they are written; nothing is simplified.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fx/syntax/lexer.h"

namespace passnet::graphdir {

struct ShapeExpression {
  enum class Kind : uint8_t {
    Integer,   // value
    Symbol,    // value: index of the symbol
    Negative,  // one operand; all others have two
    Add,
    Subtract,
    Multiply,
    FloorDivide,
    Modulo,
    Power,
    Max,
    Min,
  };
  Kind kind = Kind::Integer;
  int64_t value = 0;
  std::vector<ShapeExpression> operands;

  bool is_integer() const { return kind == Kind::Integer; }
  /// Whether a symbol occurs in it.
  bool is_symbolic() const;
  bool operator==(const ShapeExpression&) const = default;
};

struct ShapeRelation {
  enum class Kind : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
  Kind kind = Kind::Equal;
  ShapeExpression left, right;
  bool operator==(const ShapeRelation&) const = default;
};

/// Most terms of one expression.
inline constexpr size_t kMaxShapeTerms = 1000;

/// Reads one at the cursor of `lexer`.
/// symbols:  the names that are defined; an index in it is the `value` of a Symbol.
/// Errors:   are those of `lexer`, which then has failed.
ShapeExpression read_shape_expression(fx::Lexer& lexer, std::span<const std::string> symbols);
/// relation := ("Eq" | "Ne" | "Lt" | "Le" | "Gt" | "Ge") "(" a "," b ")" | a ("<" | "<=" | ">" | ">=") b
ShapeRelation read_shape_relation(fx::Lexer& lexer, std::span<const std::string> symbols);

/// symbols:  names by index.
/// Returns:  a text that reads back equal, and that Python evaluates with sympy's names.
std::string print_shape(const ShapeExpression& expression, std::span<const std::string> symbols);
std::string print_shape(const ShapeRelation& relation, std::span<const std::string> symbols);

/// values:   by symbol.
/// Returns:  the value; nullopt when a step goes beyond 64 bits or divides by zero.
std::optional<int64_t> evaluate(const ShapeExpression& expression, std::span<const int64_t> values);
std::optional<bool> evaluate(const ShapeRelation& relation, std::span<const int64_t> values);

}  // namespace passnet::graphdir
