// `import …` and `from … import …`: which names stand for which modules. Nothing is loaded. Internal to fx/.
#pragma once

#include "fx/syntax/lexer.h"
#include "fx/syntax/scope.h"
#include "ir/graph.h"

namespace passnet::fx {

/// At an import statement: reads it to the end of its line and returns true; else returns false.
bool read_import(Lexer& lexer, Scope& scope, ir::Graph& graph);

/// All imports of a file at column 0; every other line is passed over.
void read_top_level_imports(Lexer& lexer, Scope& scope, ir::Graph& graph);

}  // namespace passnet::fx
