#include "analysis/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

std::vector<NodeId> nodes_of(const ir::Graph& whole, Range range) {
  PASSNET_CHECK(range.start < range.end && range.end <= body_size(whole), "a piece is a range of the body");
  std::vector<NodeId> nodes(range.size());
  std::iota(nodes.begin(), nodes.end(), body_node(whole, range.start));
  return nodes;
}

Piece cut_at(const ir::Graph& whole, std::span<const NodeId> nodes, Boundary boundary,
             std::span<const ArgumentName> arguments, const std::function<std::string()>& value) {
  PASSNET_CHECK(arguments.size() == boundary.inputs.size(), "each input of a piece has its names");
  Piece piece;
  piece.graph.reserve(nodes.size() + boundary.inputs.size() + 1, 4 * nodes.size());
  ir::GraphCopy copying(whole, piece.graph);
  for (size_t i = 0; i < boundary.inputs.size(); ++i) {
    const NodeId made =
        piece.graph.add_placeholder(piece.graph.intern(arguments[i].signature), piece.graph.intern(arguments[i].body));
    copying.stand_for(boundary.inputs[i], ir::Arg::of_node(made));
  }
  for (const NodeId id : nodes) copying.copy(id, value());
  std::vector<ir::Arg> results;
  for (const NodeId output : boundary.outputs) results.push_back(copying.here(output));
  piece.graph.add_output(piece.graph.make_container(ir::ArgKind::Tuple, results));
  piece.inputs = std::move(boundary.inputs);
  piece.outputs = std::move(boundary.outputs);
  return piece;
}

namespace {

/// The piece with arguments in_0, w_0, … and values tmp_0, ….
Piece cut_named(const ir::Graph& whole, std::span<const NodeId> nodes, Boundary boundary) {
  std::vector<ArgumentName> arguments;
  size_t data = 0, weights = 0, values = 0;
  for (const NodeId input : boundary.inputs) {
    const bool is_weight = !is_data(whole.node(input).name);
    const std::string name = is_weight ? fmt::format("w_{}", weights++) : fmt::format("in_{}", data++);
    arguments.push_back({name, name});
  }
  return cut_at(whole, nodes, std::move(boundary), arguments, [&] { return fmt::format("tmp_{}", values++); });
}

}  // namespace

Piece cut(const ir::Graph& whole, Range range) {
  std::vector<std::string_view> names;
  for (const ir::Node& node : whole.nodes()) names.push_back(node.name);
  return cut_named(whole, nodes_of(whole, range), find_boundary(whole, range, names));
}

Piece cut(const ir::Graph& whole, std::span<const NodeId> nodes) {
  std::vector<bool> is_inside(whole.size()), is_input(whole.size()), is_output(whole.size());
  for (const NodeId id : nodes) is_inside[id] = true;
  for (NodeId id = 0; id < whole.size(); ++id) {
    for_each_input(whole, whole.node(id), [&](NodeId input) {
      if (is_inside[id] && !is_inside[input]) is_input[input] = true;
      if (!is_inside[id] && is_inside[input]) is_output[input] = true;
    });
  }
  Boundary boundary;
  for (NodeId id = 0; id < whole.size(); ++id) {
    if (is_input[id]) boundary.inputs.push_back(id);
    if (is_output[id]) boundary.outputs.push_back(id);
  }
  return cut_named(whole, nodes, std::move(boundary));
}

}  // namespace passnet::analysis
