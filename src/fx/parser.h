// torch.fx-printed Python (model.py) and the graph language of patterns -> ir::Graph. Reads text, runs no
// Python. The grammar stands above each parse function in parser.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace passnet::fx {

/// Reads a whole model.py: imports, `class GraphModule(torch.nn.Module)`, `def forward(self, …)`.
/// Aliases (`l_x = L_x`, `z = x` after an in-place operator) become names, liveness statements (`x = None`)
/// are checked and dropped. Nested expressions are accepted and become nodes of their own. file:   for
/// messages. text: kept alive by the graph (names are views into it). Errors: BadInput at file:line:col with
/// what was found and what was expected.
Result<ir::Graph> parse_model(std::string file, std::shared_ptr<const std::string> text);

/// Reads and parses GRAPH_DIR/model.py or a model.py path: a regular file of at most 64 MiB. Errors: Io, BadInput.
Result<ir::Graph> load_model(const std::string& path);

/// Parses one function of a pass file as a graph: `def pattern(x, y): … return …`. Parameters become
/// placeholders. offset: byte position of `def` in `text`. Returns the graph; `end` receives the position
/// after the function.
Result<ir::Graph> parse_function(std::string file, std::shared_ptr<const std::string> text, size_t offset, size_t* end);

}  // namespace passnet::fx
