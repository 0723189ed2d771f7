// Writes the graph's own operators into a plan: calls of PyTorch, and views.
#pragma once

#include <string>

#include "author/define/definitions.h"
#include "author/subject/subject.h"

namespace passnet::author {

/// The call as the graph has it: "y = torch.conv2d(x, weight, None, (1, 1))", without a bias that a kernel adds.
/// REQUIRES: made is made by a call.
std::string call_text(const ir::Graph& graph, const Tensor& made);
/// The same convolution by cuDNN's own operator, which measures its algorithms. TF32 is what PyTorch allows by default.
std::string measured_text(ir::Graph& graph, const Tensor& made);
/// Returns the plan's condition on a call's result: that it lies as PyTorch had it lie in the graphs.
std::string layout_condition(Definitions& definitions, const Tensor& made);

/// A view of the graph as the plan's own.
std::string view_text(const Subject& subject, Definitions& definitions, ir::NodeId id);

}  // namespace passnet::author
