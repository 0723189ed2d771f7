#include "analysis/cut.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/op_name.h"
#include "base/check.h"
#include "ir/copy.h"

namespace passnet::analysis {

using ir::NodeId;

Boundary find_boundary(const ir::Graph& whole, Range range, std::span<const std::string_view> names) {
  const NodeId begin = body_node(whole, range.start), end = body_node(whole, range.end);
  std::vector<bool> used_inside(whole.size()), used_after(whole.size());
  for (NodeId id = begin; id < end; ++id)
    for_each_input(whole, whole.node(id), [&](NodeId input) { used_inside[input] = true; });
  for (NodeId id = end; id < whole.size(); ++id)
    for_each_input(whole, whole.node(id), [&](NodeId input) { used_after[input] = true; });
  Boundary found;
  for (NodeId id = 0; id < begin; ++id) {
    if (used_inside[id]) found.inputs.push_back(id);
  }
  for (NodeId id = begin; id < end; ++id) {
    if (used_after[id]) found.outputs.push_back(id);
  }
  const auto by_name = [&](NodeId a, NodeId b) { return names[a] < names[b]; };
  std::sort(found.inputs.begin(), found.inputs.end(), by_name);
  if (end + 1 < whole.size()) std::sort(found.outputs.begin(), found.outputs.end(), by_name);
  return found;
}

bool is_data(std::string_view name) {
  return name.find("_self_") == std::string_view::npos && name.find("_instance_modules_") == std::string_view::npos;
}

Piece cut_at(const ir::Graph& whole, Range range, Boundary boundary, std::span<const ArgumentName> arguments,
             const std::function<std::string(NodeId)>& value) {
  PASSNET_CHECK(range.start < range.end && range.end <= body_size(whole), "a piece is a range of the body");
  PASSNET_CHECK(arguments.size() == boundary.inputs.size(), "each input of a piece has its names");
  Piece piece;
  piece.graph.reserve(range.size() + boundary.inputs.size() + 1, 4 * range.size());
  ir::GraphCopy copying(whole, piece.graph);
  for (size_t i = 0; i < boundary.inputs.size(); ++i) {
    const NodeId made =
        piece.graph.add_placeholder(piece.graph.intern(arguments[i].signature), piece.graph.intern(arguments[i].body));
    copying.stand_for(boundary.inputs[i], ir::Arg::of_node(made));
  }
  for (NodeId id = body_node(whole, range.start); id < body_node(whole, range.end); ++id) copying.copy(id, value(id));
  std::vector<ir::Arg> results;
  for (const NodeId output : boundary.outputs) results.push_back(copying.here(output));
  piece.graph.add_output(piece.graph.make_container(ir::ArgKind::Tuple, results));
  piece.inputs = std::move(boundary.inputs);
  piece.outputs = std::move(boundary.outputs);
  return piece;
}

Piece cut(const ir::Graph& whole, Range range) {
  std::vector<std::string_view> names;
  for (const ir::Node& node : whole.nodes()) names.push_back(node.name);
  Boundary boundary = find_boundary(whole, range, names);
  std::vector<ArgumentName> arguments;
  size_t data = 0, weights = 0;
  for (const NodeId input : boundary.inputs) {
    const std::string name = is_data(names[input]) ? fmt::format("in_{}", data++) : fmt::format("w_{}", weights++);
    arguments.push_back({name, name});
  }
  const NodeId first = body_node(whole, range.start);
  return cut_at(whole, range, std::move(boundary), arguments,
                [&](NodeId id) { return fmt::format("tmp_{}", id - first); });
}

}  // namespace passnet::analysis
