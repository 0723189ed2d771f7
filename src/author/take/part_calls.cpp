#include "author/take/part_calls.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "author/take/operators.h"
#include "author/take/part_views.h"
#include "author/take/region.h"
#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

/// The types of a call's argument in all graphs; none: it is given none.
std::vector<ValueType> argument_types(const Subject& subject, NodeId call, std::string_view parameter) {
  const Arg* arg = ir::find_argument(subject.graph, call, parameter);
  return arg != nullptr && arg->kind == ArgKind::Node ? subject.types_of(arg->node) : std::vector<ValueType>();
}

/// Tells whether each group has one channel: PyTorch has kernels of its own for these.
bool is_depthwise(const Subject& subject, NodeId call) {
  const std::vector<ValueType> types = argument_types(subject, call, "weight");
  return std::ranges::any_of(types, [](const ValueType& type) {
    return type.is_tensor() && type.tensor.shape.size() > 1 && type.tensor.shape[1] == 1;
  });
}

/// Tells whether it has a batch, and paddings that are numbers, as cuDNN's own operator must have.
bool is_batched(const Subject& subject, NodeId call) {
  const Arg* padding = ir::find_argument(subject.graph, call, "padding");
  const std::vector<ValueType> weight = argument_types(subject, call, "weight");
  return (padding == nullptr || padding->kind != ArgKind::String) && !weight.empty() &&
         weight[0].tensor.shape.size() == subject.types[0][call].tensor.shape.size();
}

/// Tells whether it takes and gives pictures whose places lie beside each other, channel by channel, in all graphs.
bool has_channels_first(const Subject& subject, NodeId call) {
  const std::vector<ValueType> inputs = argument_types(subject, call, "input");
  const auto is_it = [](const ValueType& type) {
    return type.is_tensor() && type.tensor.shape.size() == 4 && type.tensor.is_contiguous() &&
           type.tensor.shape[1] > 1 && type.tensor.shape[2] * type.tensor.shape[3] > 1;
  };
  return !inputs.empty() && std::ranges::all_of(inputs, is_it) && std::ranges::all_of(subject.types_of(call), is_it);
}

/// Returns the parts that would be written now.
std::vector<GraphPart> parts_of(const Subject& subject, const Taken& taken) {
  std::vector<GraphPart> parts;
  for (std::vector<NodeId>& nodes : regions_of(subject, taken.refused)) {
    if (Result<GraphPart> part = without_views(subject, cut(subject.graph, std::move(nodes))))
      parts.push_back(std::move(*part));
  }
  return parts;
}

/// A call that PyTorch makes as well outside of the part: at its end, or at its beginning with nothing taken over by a kernel.
std::optional<NodeId> idle_call(const Subject& subject, const GraphPart& part, const Taken& taken) {
  const ir::Graph& graph = subject.graph;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  const ProductOptions options = product_options(subject, part, taken);
  for (const auto& [call, why] : taken.calls) {
    if (!is_in(part, call)) continue;
    const bool ends = std::ranges::none_of(users[call], [&](NodeId user) { return is_in(part, user); });
    bool begins = true;
    ir::for_each_input(graph, graph.node(call),
                       [&](NodeId input) { begins = begins && !is_in(part, holder_of(subject, part, input)); });
    // A kernel that other operators are fused into changes its layout.
    if (options.channels_last.contains(call) && !(begins && ends)) continue;
    const bool is_as_it_was = !options.without_bias.contains(call) && !options.measured.contains(call);
    if (ends || (begins && is_as_it_was)) return call;
  }
  return std::nullopt;
}

}  // namespace

ProductOptions product_options(const Subject& subject, const GraphPart& part, const Taken& taken) {
  const ir::Graph& graph = subject.graph;
  std::set<NodeId> in_memory;
  for (const NodeId id : part.outputs) in_memory.insert(holder_of(subject, part, id));
  for (const auto& [call, why] : taken.calls) {
    if (!is_in(part, call)) continue;
    ir::for_each_input(graph, graph.node(call),
                       [&](NodeId input) { in_memory.insert(holder_of(subject, part, input)); });
  }
  ProductOptions options{taken.tiles, !taken.calls.empty(), taken.all_are_calls};
  for (const auto& [call, why] : taken.calls) {
    const std::string name = operator_name(graph, call);
    if (!is_in(part, call) || !name.starts_with("conv") || is_depthwise(subject, call)) continue;
    const bool has_bias = !argument_types(subject, call, "bias").empty();
    if (has_bias && !in_memory.contains(call)) options.without_bias.insert(call);
    const bool can_measure = (name == "conv2d" || name == "conv3d") && is_batched(subject, call);
    if (taken.library == Library::Measured && can_measure && (!has_bias || options.without_bias.contains(call)))
      options.measured.insert(call);
    if (taken.library == Library::ChannelsLast && name == "conv2d" && is_batched(subject, call) &&
        has_channels_first(subject, call))
      options.channels_last.insert(call);
  }
  return options;
}

bool refuse_idle_calls(const Subject& subject, Taken& taken) {
  for (const GraphPart& part : parts_of(subject, taken)) {
    if (const std::optional<NodeId> call = idle_call(subject, part, taken)) {
      taken.refuse_call(*call);
      return true;
    }
  }
  return false;
}

bool refuse_layouts(Subject& subject, Taken& taken) {
  bool found = false;
  for (const GraphPart& part : parts_of(subject, taken)) {
    Definitions definitions(subject, product_options(subject, part, taken));
    if (!define(definitions, part)) continue;
    for (const NodeId id : part.outputs) {
      const std::optional<TensorId> tensor = definitions.tensor_of(id);
      if (!tensor || !view_chain(subject, part, id).empty()) continue;
      const Result<void> laid = definitions.lay_out(*tensor);
      if (laid) continue;
      taken.refuse_layout(id, laid.error().message);
      found = true;
    }
  }
  return found;
}

bool refuse_conversions(const Subject& subject, Taken& taken) {
  const ir::Graph& graph = subject.graph;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  const auto is_seen = [&](NodeId id) {
    return ir::base_of(graph, id) < subject.body() ||
           std::ranges::any_of(users[id], [&](NodeId user) { return graph.node(user).kind == ir::NodeKind::Output; });
  };
  bool found = false;
  for (const GraphPart& part : parts_of(subject, taken)) {
    for (const NodeId output : part.outputs) {
      const NodeId id = holder_of(subject, part, output);
      const std::optional<NodeId> same = same_in_some(subject, part, id);
      if (!same) continue;
      const bool is_stored = is_in(part, *same) && !taken.calls.contains(*same) && graph.args(id)[0].node == *same;
      if (is_stored || (!is_in(part, *same) && !is_seen(*same))) continue;
      taken.refuse_layout(id, "in some graphs it is what it is given");
      found = true;
    }
  }
  return found;
}

}  // namespace passnet::author
