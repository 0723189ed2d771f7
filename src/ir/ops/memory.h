// Which values of a graph may share memory: the one analysis behind the order of rewriting, the identity of graphs and
// the model of kernels.
//
// Memory is followed conservatively: a result may share memory with the first argument of an operator that
// the table flags `view` or that works in place (all of them where that takes many tensors), with the only tensor of
// `einsum`, and with every argument of an operator the table does not know. Placeholders do not share memory with each
// other.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"

namespace passnet::ir {

/// The value that an operator views or overwrites: its first positional argument, else the keyword `input` or `self`;
/// kNoNode when that is not a node.
NodeId first_input(const Graph& graph, NodeId id);

/// The value that the node overwrites: its first_input; kNoNode: none.
NodeId overwritten_input(const Graph& graph, NodeId id);
/// The value that the node shows where the table flags it `view`: its first_input; kNoNode: none.
NodeId viewed_input(const Graph& graph, NodeId id);
/// The value that a chain of views and of operators in place starts from.
NodeId base_of(const Graph& graph, NodeId id);

/// Calls `visit` for the inputs whose memory the result of `id` may share.
void for_each_aliased_input(const Graph& graph, NodeId id, const std::function<void(NodeId)>& visit);

/// By node id: the memory that its result lies in, named by one of the nodes in it; equal names may share memory.
std::vector<NodeId> memory_of_values(const Graph& graph);

/// By placeholder: false only where no operator writes to it, nor to a value that may share its memory.
std::vector<bool> inputs_that_may_be_written(const Graph& graph);

}  // namespace passnet::ir
