#include "fx/retrace.h"

#include <span>
#include <vector>

#include "fx/trace_names.h"
#include "ir/copy.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

ir::Graph trace_again(const ir::Graph& graph) {
  ir::Graph made;
  ir::GraphCopy copying(graph, made);
  TraceNames names(graph, Numbering::FromItself);
  const auto bound = [&](const Arg& arg) {
    if (arg.kind != ArgKind::Node || arg.node >= graph.placeholder_count()) return copying.argument(arg);
    const std::span<const Arg> annotation = graph.args(arg.node);
    const Arg& value = copying.here(arg.node);
    if (annotation.empty() || annotation[0].string() != "torch.SymInt") return value;
    return copying.add(NodeKind::CallMethod, "item", names.create("item"), std::span(&value, 1));
  };
  copying.replace = [&](const Arg& arg) -> std::optional<Arg> {
    if (arg.kind != ArgKind::Slice) return std::nullopt;
    std::vector<Arg> bounds;
    for (const Arg& element : graph.elements(arg)) bounds.push_back(bound(element));
    return made.make_container(ArgKind::Slice, bounds);
  };
  for (NodeId id = 0; id < graph.size(); ++id) {
    const NodeKind kind = graph.node(id).kind;
    if (kind == NodeKind::Placeholder || kind == NodeKind::Output) {
      copying.copy(id);
      continue;
    }
    const std::vector<Arg> args = copying.arguments(id);  // may create names before that of the node
    copying.copy_with(id, names.next(id), args);
  }
  return made;
}

}  // namespace passnet::fx
