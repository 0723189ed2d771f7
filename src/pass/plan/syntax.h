// The parsed plan language: expressions, statements, functions, constants of one pass file. Nodes live in the
// program; names are views into its text.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pass/plan/value.h"

namespace passnet::pass {

inline constexpr uint32_t kMaxSyntaxDepth = 100;  // nested expressions and blocks
inline constexpr size_t kMaxArguments = 255;      // of a function or a kernel

enum class ExprKind : uint8_t {
  Literal,        // value
  Name,           // name
  Tuple,          // children
  List,           // children
  Dict,           // children: key, value, key, value, …
  Unary,          // op; children: operand
  Binary,         // op; children: left, right
  Compare,        // children: a, b, c, …; operators between them: a < b <= c
  And,            // children: left, right
  Or,             // children: left, right
  Conditional,    // children: condition, then, otherwise
  Attribute,      // name; children: object
  Subscript,      // children: object, index
  Slice,          // children: start, stop, step; each may be null
  Call,           // children: callee, positional arguments; keywords
  Lambda,         // name: the parameter; children: body
  Comprehension,  // children: element, target, iterable, conditions
  Format,         // children: the pieces of an f-string, whose texts are joined
  Star,           // children: a sequence, whose items stand here; in calls, tuples and lists
};

struct Expr;
struct KeywordExpr {
  std::string_view name;
  const Expr* value = nullptr;
};

struct Expr {
  ExprKind kind = ExprKind::Literal;
  Operator op = Operator::Add;
  uint32_t offset = 0;  // byte position in the text, where messages point
  uint32_t depth = 1;
  std::string_view name;
  Value value;
  std::vector<const Expr*> children;
  std::vector<Operator> operators;
  std::vector<KeywordExpr> keywords;
};

enum class StatementKind : uint8_t {
  Assign,         // targets; value
  AugmentAssign,  // targets: one name; op; value
  Evaluate,       // value
  If,             // value: condition; body; otherwise (elif is an If in it)
  For,            // targets: one; value: iterable; body
  While,          // value: condition; body
  Assert,         // value: condition; message, may be null
  Return,         // value, may be null
  Raise,          // value: message, may be null; name: the exception
  Break,
  Continue,
  Pass,
};

struct Statement {
  StatementKind kind = StatementKind::Pass;
  Operator op = Operator::Add;
  uint32_t offset = 0;
  std::string_view name;
  std::vector<const Expr*> targets;  // names, or tuples of targets
  const Expr* value = nullptr;
  const Expr* message = nullptr;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
};

struct Parameter {
  std::string_view name;
  uint32_t offset = 0;
  const Expr* default_value = nullptr;  // null: required
  bool is_constexpr = false;            // annotated as `tl.constexpr`
  bool is_variadic = false;             // `*name`: a tuple of the remaining arguments
};

struct Function {
  std::string_view name;
  uint32_t offset = 0;
  std::vector<Parameter> parameters;
  std::vector<Statement> body;
};

/// A function that Triton compiles (`@triton.jit`): its signature. Its body is no plan.
struct JitKernel {
  uint32_t offset = 0;
  std::vector<Parameter> parameters;
  bool is_tuned = false;  // @triton.autotune or @triton.heuristics choose constants that a launch does not give
};

/// A module-level `NAME = expression`.
struct ModuleConstant {
  std::string_view name;
  const Expr* expr = nullptr;
};

struct PlanProgram {
  std::string file;
  std::shared_ptr<const std::string> text;
  std::vector<uint32_t> line_starts;  // byte position of each line
  std::deque<Expr> exprs;             // stable addresses
  std::vector<ModuleConstant> constants;
  std::map<std::string_view, Function> functions;
  std::map<std::string_view, JitKernel> jit_kernels;

  SourceLoc locate(uint32_t offset) const;
};

}  // namespace passnet::pass
