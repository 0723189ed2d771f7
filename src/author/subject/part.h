// A part of a graph as a pattern: what it takes, what it gives, and what its plan asks before anything else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "author/subject/subject.h"

namespace passnet::author {

struct GraphPart {
  std::vector<ir::NodeId> nodes, inputs, outputs;
  std::vector<ir::NodeId> views =
      {};  // of the nodes: those that the plan itself makes, of what kernels stored or of inputs
};

bool is_in(const GraphPart& part, ir::NodeId id);

/// With its inputs and outputs, each in the order of the graph; no views.
GraphPart cut(const ir::Graph& graph, std::vector<ir::NodeId> nodes);

std::vector<std::string> names_of(const ir::Graph& graph, const std::vector<ir::NodeId>& ids);
/// "(a, b)", "(a,)"
std::string tuple_of(const std::vector<std::string>& items);

/// Adds a condition under which the plan declines: to the last `if` where that has no comment of its own.
void decline(std::vector<std::string>& lines, const std::string& condition);
/// Lines of the plan that decline dtypes, ranks, layouts and lengths of tuples that no graph has.
std::vector<std::string> type_checks(const Subject& subject, const GraphPart& part);

/// The element type in a kernel: "float", "bfloat16", "int64_t"; empty where no kernel takes it.
std::string_view kernel_type(ir::DType dtype);

}  // namespace passnet::author
