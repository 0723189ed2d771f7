// When two graphs are the same, whatever their values are called and in whatever order they stand.
// docs/dataset.md says what counts; the version of the rule is part of each hash.
#pragma once

#include <string>

#include "graphdir/sample.h"
#include "ir/graph.h"

namespace passnet::analysis {

/// 64 hex digits. Equal for graphs with the same operators, arguments and connections. Names, the order of
/// arguments of forward and of outputs, the order of independent statements, spellings of one operator and
/// devices do not count; constants do, shapes and element types of tensors do not.
std::string identity_hash(const ir::Graph& graph);

/// The same without the sizes in constants (of view, expand, slices, …): equal for the same graph captured at
/// other shapes.
std::string structure_hash(const ir::Graph& graph);

/// identity_hash that also tells graphs apart whose arguments differ in shape or element type.
std::string typed_identity_hash(const graphdir::GraphDir& graph);

}  // namespace passnet::analysis
