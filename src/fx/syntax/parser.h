// torch.fx-printed Python (model.py) and the graph language of patterns -> ir::Graph. Reads text, runs no Python.
// Source: docs/graphs.md, "model.py", which has the grammar and the limits.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "fx/syntax/free_values.h"
#include "ir/graph.h"

namespace passnet::fx {

/// Which operators a graph may call: those of PassNet's list, or, in `selftest` alone, all that PyTorch has.
enum class Operators { Listed, All };

/// Reads a whole model.py: imports, `class GraphModule(torch.nn.Module)`, `def forward(self, …)`. Aliases (`l_x = L_x`,
/// `z = x` after an in-place operator) become names, liveness statements (`x = None`) are checked and dropped. Nested
/// expressions become nodes of their own.
/// file:     names the text in messages.
/// text:     kept alive by the graph, whose names are views into it.
/// Errors:   BadInput at file:line:column with what was found and what was expected; Unsupported at a call of an operator
///           that no graph may call (ir/ops/aten.h).
Result<ir::Graph> parse_model(std::string file, std::shared_ptr<const std::string> text,
                              Operators operators = Operators::Listed);

/// path:     a graph directory or a model.py, which must be a regular file of at most 64 MiB.
/// Errors:   Io; as parse_model.
Result<ir::Graph> load_model(const std::string& path, Operators operators = Operators::Listed);

/// Parses one function of a pass file as a graph: `def pattern(x, y): … return …`. Parameters become placeholders.
/// file, text: as above.
/// offset:   byte position of `def` in `text`.
/// end:      receives the byte position behind the function; may be null.
/// free:     what names outside the function stand for.
/// Errors:   as parse_model.
Result<ir::Graph> parse_function(std::string file, std::shared_ptr<const std::string> text, size_t offset, size_t* end,
                                 const FreeValues& free = {});

}  // namespace passnet::fx
