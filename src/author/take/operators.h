// The operators of a part of a graph, one by one: what they are called, and what they are to a pass.
#pragma once

#include <string>
#include <vector>

#include "author/define/definitions.h"
#include "author/subject/part.h"
#include "base/result.h"

namespace passnet::author {

/// "add", "layer_norm": of what computes.
std::string operator_name(const ir::Graph& graph, ir::NodeId id);
/// Returns the operators of the part that compute something, in its order. REQUIRES: define().
std::vector<std::string> operator_names(const ir::Graph& graph, const Definitions& definitions, const GraphPart& part);
/// "torch.conv2d", "Tensor.matmul" of a method, "@".
std::string called_name(const ir::Graph& graph, ir::NodeId id);

/// Tells whether an operator that can be defined is a product or a convolution.
bool is_product(const ir::Graph& graph, ir::NodeId id);
/// Tells whether an operator that was defined is more than a view.
bool computes(const Definitions& definitions, ir::NodeId id);

/// Defines all that the part takes and computes. Errors: Unsupported, with why.
Result<void> define(Definitions& definitions, const GraphPart& part);

}  // namespace passnet::author
