// Graphs as the text of the model.py files that upstream writes, byte for byte: printed by Python's ast.unparse, or
// wrapped around code that torch.fx generates. Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace passnet::fx {

/// Returns: the module without annotations and without a newline at its end; `a = b = None` for arguments is left out, as
///          upstream's renaming leaves it out, but not for names that the body gives to arguments.
/// REQUIRES: as print_model.
std::string print_unparsed(const ir::Graph& graph);

/// code:     of a forward as torch.fx generates it, from its three empty lines on (HashRule::OwnNames).
/// Returns:  the module with that code, which ends with eight blanks.
std::string wrap_traced(std::string_view code);

}  // namespace passnet::fx
