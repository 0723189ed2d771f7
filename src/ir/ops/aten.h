// Which operators of ATen a graph may call: those of the table (table.h) and those that aten_rows.h lists without a
// reason against them. A graph comes from anywhere, and ATen also opens files and hands out memory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace passnet::ir {

/// Operators that stand under one reason.
struct AtenRow {
  const char* reason_class;  // "files"; empty: a graph may call them
  const char* reason;
  const char* names;  // separated by blanks
};

/// The row of the operator of this name, without namespace and overload; null: there is none, in the PyTorch that the
/// list was made from.
const AtenRow* aten_row(std::string_view name);

/// A module of Python whose functions are operators of ATen.
struct TorchModule {
  std::string_view prefix;     // "torch.linalg."
  std::string_view same;       // prefix of the functions that they are, too
  std::string_view operators;  // prefix of the operators' names: "linalg_"
};
/// The module that a function is of; null: of none.
const TorchModule* torch_module_of(std::string_view target);

/// The operator of ATen that a spelling names: "torch.ops.aten.add.Tensor" -> "add", "torch.linalg.norm" ->
/// "linalg_norm", the method "view" -> "view". Empty: none.
std::string aten_name(NodeKind kind, std::string_view target);

/// Errors: Unsupported: "operator 'torch.from_file' is not run: it opens a file by name (files)", as the list says so and
/// the operator table has no such call.
Result<void> check_operator(NodeKind kind, std::string_view target);

/// The same of each call of the graph, at its place.
Result<void> check_operators(const Graph& graph);

}  // namespace passnet::ir
