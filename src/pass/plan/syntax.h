// The parsed plan language: expressions, statements and functions of one file. Nodes live in the program; names are
// views into its text.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pass/plan/value.h"

namespace passnet::pass {

inline constexpr uint32_t kMaxSyntaxDepth = 100;  // nested expressions and blocks
inline constexpr size_t kMaxArguments = 255;      // of a function or a kernel

enum class ExprKind : uint8_t {
  Literal,            // value
  Name,               // name
  Tuple,              // children
  List,               // children
  Dict,               // children: key, value, key, value, …
  Unary,              // op; children: operand
  Binary,             // op; children: left, right
  Compare,            // children: a, b, c, …; operators between them: a < b <= c
  And,                // children: left, right
  Or,                 // children: left, right
  Conditional,        // children: condition, then, otherwise
  Attribute,          // name; children: object
  Subscript,          // children: object, index
  Slice,              // children: start, stop, step; each may be null
  Call,               // children: callee, positional arguments; keywords
  Lambda,             // function
  Comprehension,      // children: element, clauses
  DictComprehension,  // children: element, a tuple (key, value); clauses
  ForClause,          // children: target, iterable, conditions
  Format,             // children: the pieces of an f-string, whose texts are joined
  Formatted,          // children: a value of an f-string; name: how it is written, as ".3f"
  Star,               // children: a sequence, whose items stand here; in calls, tuples and lists
};

struct Expr;
struct Function;
struct KeywordExpr {
  std::string_view name;  // empty: `**value`
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
  const Function* function = nullptr;
};

enum class StatementKind : uint8_t {
  Assign,         // targets; value
  AugmentAssign,  // targets: one; op; value
  Evaluate,       // value
  If,             // value: condition; body; otherwise (elif is an If in it)
  For,            // targets: one; value: iterable; body
  While,          // value: condition; body
  Assert,         // value: condition; message, may be null
  Return,         // value, may be null
  Raise,          // value: the exception, may be null
  Break,
  Continue,
  Pass,
  Define,        // function
  DefineKernel,  // kernel
  Import,        // imports
  Class,         // targets: its name; plans have none, so that only its use is an error
  Delete,        // targets
  Try,           // body; handlers; otherwise: when nothing was raised; finally
  With,          // value: a tuple of contexts; body
};

struct Function;
struct JitKernel;
struct Handler;

/// What one name of an import statement stands for.
struct Import {
  std::string module;      // as written, "" in `from . import name`
  std::string_view name;   // what is taken out of it; empty: the module itself
  std::string_view bound;  // the variable
  uint32_t offset = 0;
};

struct Statement {
  StatementKind kind = StatementKind::Pass;
  Operator op = Operator::Add;
  uint32_t offset = 0;
  std::vector<const Expr*> targets;  // names, items, attributes, or tuples of targets
  const Expr* value = nullptr;
  const Expr* message = nullptr;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
  std::vector<Statement> finally;
  std::vector<Handler> handlers;
  std::vector<Import> imports;
  const Function* function = nullptr;
  const JitKernel* kernel = nullptr;
  bool builds_graph = false;  // with torch.fx.Graph (built_pattern.h)
};

/// Adds the names that statements assign, those in their blocks included.
void collect_assigned(const std::vector<Statement>& body, std::set<std::string_view>& names);

struct Handler {
  std::vector<std::string_view> exceptions;  // the last parts of their names; empty: any
  std::string_view bound;                    // `as NAME`: the message; empty: none
  std::vector<Statement> body;
};

enum class ParameterKind : uint8_t {
  Plain,
  Variadic,  // `*name`: a tuple of the remaining arguments
  Keywords,  // `**name`: a dict of the remaining keywords
};

struct Parameter {
  std::string_view name;
  uint32_t offset = 0;
  const Expr* default_value = nullptr;  // null: required
  std::string_view annotation = {};     // of a kernel's parameter: "tl.constexpr"
  ParameterKind kind = ParameterKind::Plain;
  /// Annotated as `tl.constexpr`.
  bool is_constexpr() const { return annotation.ends_with("constexpr"); }
};

struct Function {
  std::string_view name;
  uint32_t offset = 0;
  uint32_t end = 0;  // of a lambda: where its text ends
  std::vector<Parameter> parameters;
  std::vector<Statement> body;
  std::set<std::string_view> locals;   // parameters and what it assigns
  std::set<std::string_view> globals;  // names that `global` gives to the file
  const Function* outer = nullptr;     // the function that it stands in
  bool is_graph = false;               // `pattern`: written in the graph language, not a plan
};

/// A function that Triton compiles (`@triton.jit`). Its body is no plan.
struct JitKernel {
  std::string_view name;
  uint32_t offset = 0;
  std::vector<Parameter> parameters;
  uint32_t begin = 0, end = 0;          // its text, from `@triton.jit` on
  const Expr* jit = nullptr;            // `triton.jit`, or a call of it
  const Expr* autotune = nullptr;       // the call in `@triton.autotune(…)`
  std::vector<const Expr*> heuristics;  // the calls in `@triton.heuristics(…)`
};

struct PlanProgram {
  std::string file;  // for messages
  std::string name;  // as imports say it: the file's stem
  std::shared_ptr<const std::string> text;
  std::vector<uint32_t> line_starts;  // byte position of each line
  std::deque<Expr> exprs;             // stable addresses
  std::deque<Function> functions;     // in the order of the text, nested ones and lambdas included
  std::deque<JitKernel> kernels;
  std::vector<Statement> body;       // what the file does when it is imported; decorators belong to their function
  std::set<std::string_view> names;  // what the file itself defines
  std::vector<Import> imports;       // of all statements, those in functions included

  SourceLoc locate(uint32_t offset) const;
  /// The function of the file with that name, the last when there are several; null: none.
  const Function* find_function(std::string_view name) const;
};

}  // namespace passnet::pass
