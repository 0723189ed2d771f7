// ir::Graph -> text: a model.py that PyTorch loads and that parses back to an equal graph.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace passnet::fx {

/// notes:    by node id, a line that becomes a comment behind the value; an empty string gives none. With notes every
///           argument of forward has a line of its own.
/// Returns:  the whole model.py: imports as needed, class, forward, and liveness statements (`x = None`) after last
///           uses. What Python's syntax cannot say is printed as a call of its `operator` module.
/// REQUIRES: names are unique Python identifiers and not reserved (keywords, torch, device, inf, nan, slice, Ellipsis,
///           float, self, operator, passnet, math), and no placeholder has the name that another has in the signature.
///           Every graph that parser.h reads is so.
/// Source:   docs/graphs.md, "What is printed".
std::string print_model(const ir::Graph& graph, std::span<const std::string> notes = {});
/// Returns: one node as a statement, for messages: "add = torch.add(x, y, alpha = 2)".
std::string print_node(const ir::Graph& graph, const ir::Node& node);
/// Returns: one argument: "(1, None)", "slice(None, 2, None)", "x".
std::string print_arg(const ir::Graph& graph, const ir::Arg& arg);
/// Returns: a Python float literal that reads back to the same bits: "1e-05", "1.0", and "inf" for infinity.
std::string print_float(double value);

/// value:    UTF-8.
/// Returns:  a Python string literal in double quotes.
std::string print_string(std::string_view value);

}  // namespace passnet::fx
