// Hashes that are equal when two graphs compute the same, whatever their values are called and however independent
// statements are ordered. The version of the rule is part of each hash.
// Source: docs/dataset-format.md, "Identity", which says what counts.
#pragma once

#include <string>

#include "graphdir/sample.h"
#include "ir/graph.h"

namespace passnet::analysis {

/// Returns: 64 hex digits, equal for graphs with the same operators, constants and connections. Names, the order of
///          forward's arguments, of outputs and of independent statements, the spelling of an operator, devices, and
///          the shapes and element types of tensors make no difference.
std::string identity_hash(const ir::Graph& graph);

/// Returns: the same, but constants that are sizes (of view, expand, slices, …) make no difference either: equal for
///          one model captured at several shapes.
std::string structure_hash(const ir::Graph& graph);

/// Returns: identity_hash, but different for graphs whose arguments differ in shape or element type.
std::string typed_identity_hash(const graphdir::GraphDir& graph);

}  // namespace passnet::analysis
