// Shapes of a graph's values by their names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/size_expression.h"
#include "fx/graph_text.h"

namespace passnet::dataset {

using Shapes = std::map<std::string, std::vector<int64_t>>;

inline analysis::ValueShapes shapes_of(const ir::Graph& graph, const Shapes& by_name) {
  analysis::ValueShapes shapes{std::vector<std::optional<std::vector<int64_t>>>(graph.size()),
                               std::vector<std::string>(graph.size()), std::vector<bool>(graph.size())};
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const auto found = by_name.find(std::string(graph.node(id).name));
    if (found != by_name.end()) shapes.shape[id] = found->second;
  }
  return shapes;
}

}  // namespace passnet::dataset
