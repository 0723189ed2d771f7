// input_tensor_constraints.py: which sizes of the inputs are symbolic, and what holds between them.
// Source: docs/graphs.md, "input_tensor_constraints.py", which has the grammar.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "graphdir/inputs/shape_expression.h"
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

/// file:     names the text in messages.
/// text:     of the whole file; a text without any statement gives constraints without symbols and inputs.
/// Errors:   BadInput with its place: a statement of another form, an undefined symbol, a symbol without example value,
///           an expression whose value is not an integer.
Result<Constraints> parse_constraints(const std::string& file, const std::string& text);

/// Returns: a text that parse_constraints reads back to equal constraints, and that Python runs with sympy; empty for
///          constraints that hold nothing.
std::string print_constraints(const Constraints& constraints);

/// Same symbols, examples, relations and inputs; positions are not compared.
bool equal(const Constraints& a, const Constraints& b);

/// Checks that the constraints and `graph` have the same arguments, each once, and that with the example values each
/// shape is the recorded one and each relation holds. Constraints without inputs always pass.
/// records:  of weight_meta.py and input_meta.py together; an argument without a record is not compared.
/// Errors:   BadInput at the entry that does not fit, with what it says and what was expected.
Result<void> verify_constraints(const Constraints& constraints, const ir::Graph& graph,
                                std::span<const TensorMeta* const> records);

/// Returns: the shapes that hold a symbol, as Python tuples sorted by their Python text, without blanks:
///          "[(S0,1),(S0,S1)]".
std::string signature(const Constraints& constraints);

}  // namespace passnet::graphdir
