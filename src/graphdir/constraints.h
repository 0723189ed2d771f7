// input_tensor_constraints.py: which sizes of the inputs are symbolic, and what holds between them.
// Format: spec section A.5; the grammar stands in docs/graphs.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graphdir/meta.h"
#include "graphdir/shape_expression.h"
#include "ir/graph.h"

namespace passnet::graphdir {

struct Constraints {
  struct Input {
    std::string name;  // argument of forward
    std::vector<ShapeExpression> shape;
    SourceLoc at;
  };
  struct Relation {
    ShapeRelation relation;
    SourceLoc at;
  };
  std::vector<std::string> symbols;
  std::vector<int64_t> examples;  // by symbol: the size that was captured
  std::vector<Relation> relations;
  std::vector<Input> inputs;  // in file order; one per argument, in files that are not empty
};

/// Text without any statement gives no constraints. Errors: BadInput with position (another statement, an
/// undefined symbol, a symbol without example value, an expression that is no integer expression).
Result<Constraints> parse_constraints(const std::string& file, const std::string& text);

/// Text that parse_constraints reads back to equal constraints, and that sympy reads; empty for none.
std::string print_constraints(const Constraints& constraints);

/// Same symbols, examples, relations and inputs; positions are not compared.
bool equal(const Constraints& a, const Constraints& b);

/// Every input is an argument of `graph` and the reverse, each once; with the example values each shape is
/// the recorded one and each relation holds. Constraints without inputs fulfil this. records: of
/// weight_meta.py and input_meta.py together; an argument without record is not compared. Errors: BadInput at
/// the entry, with both sides.
Result<void> verify_constraints(const Constraints& constraints, const ir::Graph& graph,
                                std::span<const TensorMeta* const> records);

/// "[(S0,1),(S0,S1)]": the shapes that hold a symbol, as Python tuples, sorted by their Python text, without
/// blanks.
std::string signature(const Constraints& constraints);

}  // namespace passnet::graphdir
