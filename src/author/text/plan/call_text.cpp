#include "author/text/plan/call_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "author/subject/part.h"
#include "fx/print.h"
#include "fx/syntax/statement.h"
#include "ir/copy.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::NodeId;

namespace {

/// Tells whether an operator returns its input: dropout that drops nothing, a conversion to the same dtype.
bool is_the_same(const Subject& subject, NodeId of, NodeId id) {
  const std::vector<ValueType> from = subject.types_of(of), to = subject.types_of(id);
  for (size_t i = 0; i < from.size(); ++i) {
    if (!from[i].is_tensor() || !to[i].is_tensor() || from[i].tensor != to[i].tensor) return false;
  }
  return true;
}

/// Writes the elements of tuples as the plan's own views: "y = x.narrow(1, width, 64)"
std::string part_text(const Subject& subject, Definitions& definitions, NodeId id) {
  const ir::Graph& graph = subject.graph;
  const NodeId of = graph.args(graph.args(id)[0].node)[0].node;
  const Tensor& part = definitions.tensors()[*definitions.tensor_of(id)];
  const auto& [dim, start] = *part.part_of;
  const IndexTable& indices = definitions.exprs().indices();
  const std::function<std::string(IndexId)> text = [&](IndexId index) -> std::string {
    const Index& node = indices.at(index);
    switch (node.kind) {
      case Index::Kind::Add: return fmt::format("{} + {}", text(node.a), text(node.b));
      case Index::Kind::Scale: return fmt::format("{} * ({})", text(node.a), definitions.sizes().plan_text(node.size));
      case Index::Kind::Size: return definitions.sizes().plan_text(node.size);
      default: return std::to_string(node.value);
    }
  };
  const std::string_view name = graph.node(id).name, whole = graph.node(of).name;
  const bool is_one = part.shape.size() < subject.types[0][of].tensor.shape.size();
  if (is_one) return fmt::format("{} = {}.select({}, {})", name, whole, dim, text(start));
  return fmt::format("{} = {}.narrow({}, {}, {})", name, whole, dim, text(start),
                     definitions.sizes().plan_text(part.shape[static_cast<size_t>(dim)]));
}

}  // namespace

std::string call_text(const ir::Graph& graph, const Tensor& made) {
  const NodeId id = made.call->node;
  const ir::Node& node = graph.node(id);
  ir::Graph own;
  ir::GraphCopy copying(graph, own);
  const ir::Arg* input_of = made.call->input ? ir::find_argument(graph, id, "input") : nullptr;
  ir::for_each_input(graph, node, [&](NodeId input) {
    const bool is_other = input_of != nullptr && input_of->node == input;
    const std::string_view name = own.intern(is_other ? *made.call->input : graph.node(input).name);
    copying.stand_for(input, ir::Arg::of_node(own.add_placeholder(name, name)));
  });
  const ir::Arg* bias = made.call->without_bias ? ir::find_argument(graph, id, "bias") : nullptr;
  copying.replace = [&](const ir::Arg& arg) { return &arg == bias ? std::optional(ir::Arg::none()) : std::nullopt; };
  const NodeId called = copying.copy(id, made.name);
  fx::StatementPrinter printer(own);
  printer.statement(own.node(called), false, "\n    ");
  return std::move(printer.text());
}

std::string measured_text(ir::Graph& graph, const Tensor& made) {
  const ir::CanonicalCall call = *ir::canonicalize(graph, made.call->node);
  const auto argument = [&](std::string_view name) {
    return fx::print_arg(graph,
                         call.args[static_cast<size_t>(std::ranges::find(call.names, name) - call.names.begin())]);
  };
  return fmt::format(
      "{} = torch.cudnn_convolution({}, {}, {}, {}, {}, {}, benchmark=True, deterministic=False, allow_tf32=True)",
      made.name, made.call->input.value_or(argument("input")), argument("weight"), argument("padding"),
      argument("stride"), argument("dilation"), argument("groups"));
}

std::string layout_condition(Definitions& definitions, const Tensor& made) {
  if (std::ranges::is_sorted(made.order)) return fmt::format("not {}.is_contiguous()", made.name);
  std::vector<std::string> strides;
  for (const SizeId stride : made.strides) strides.push_back(definitions.sizes().plan_text(stride));
  return fmt::format("{}.stride() != {}", made.name, tuple_of(strides));
}

std::string view_text(const Subject& subject, Definitions& definitions, NodeId id) {
  const ir::Graph& graph = subject.graph;
  const NodeId of = graph.args(id)[0].node;
  if (is_the_same(subject, of, id)) return fmt::format("{} = {}", graph.node(id).name, graph.node(of).name);
  if (subject.is_list(of)) return part_text(subject, definitions, id);
  // Plans do not know its other names (swapaxes).
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  if (const auto args = graph.args(id); signature && signature->name == "transpose" && args.size() == 3)
    return fmt::format("{} = {}.transpose({}, {})", graph.node(id).name, graph.node(of).name,
                       fx::print_arg(graph, args[1]), fx::print_arg(graph, args[2]));
  fx::StatementPrinter view(graph);
  view.statement(graph.node(id), false, "\n    ");
  return std::move(view.text());
}

}  // namespace passnet::author
