// ir::Graph -> text: a model.py that PyTorch loads and that parses back to an equal graph.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace passnet::fx {

/// The whole model.py: imports as needed, class, forward, liveness statements (`x = None`) at last uses.
/// Names must be Python identifiers, unique, not reserved (keywords, torch, device, inf, nan, slice,
/// Ellipsis, float, self, operator, passnet, math), and no placeholder may be called like the signature name
/// of another; what fx/ reads fulfils this. What Python's syntax cannot say is printed as a call of its
/// `operator` module.
/// notes: by node id, one line each, as comments behind the values; empty strings and none at all leave no
/// comment. With notes every argument of forward has its own line.
std::string print_model(const ir::Graph& graph, std::span<const std::string> notes = {});
/// One node as a statement, without the liveness part: "add = torch.add(x, y, alpha = 2)". For messages.
std::string print_node(const ir::Graph& graph, const ir::Node& node);
/// One argument: "(1, None)", "slice(None, 2, None)", "x".
std::string print_arg(const ir::Graph& graph, const ir::Arg& arg);
/// A Python float literal that reads back to the same bits: "1e-05", "1.0", "float('inf')" spelled `inf`.
std::string print_float(double value);

/// A Python string literal in double quotes. value: UTF-8.
std::string print_string(std::string_view value);

}  // namespace passnet::fx
