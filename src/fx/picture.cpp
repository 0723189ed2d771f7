#include "fx/picture.h"

#include <fmt/format.h>

#include <string_view>

#include "fx/syntax/operators.h"

namespace passnet::fx {

using ir::NodeId;
using ir::NodeKind;

bool is_weight(const ir::Graph& graph, NodeId id) {
  if (id >= graph.placeholder_count()) return false;
  const ir::Node& node = graph.node(id);
  if (node.arg_count > 0 && graph.args(node)[0].string() == "torch.nn.parameter.Parameter") return true;
  const auto holds = [&](std::string_view part) { return node.target.find(part) != std::string_view::npos; };
  return holds("_self_") || holds("_instance_modules_") || node.target.starts_with("w_");
}

std::string title_of(const ir::Node& node) {
  if (node.kind == NodeKind::Placeholder) return std::string(node.target);
  if (node.kind == NodeKind::Output) return "output";
  if (node.kind == NodeKind::Operator) return node.target == "getitem" ? "[ ]" : std::string(node.target);
  if (node.kind == NodeKind::CallFunction) {
    const std::string_view path = node.target;
    return std::string(path.ends_with(".default") ? path : path.substr(path.rfind('.') + 1));
  }
  return fmt::format(".{}", node.target);
}

bool changes_its_argument(const ir::Node& node) {
  const OperatorRow* row = node.kind == NodeKind::Operator ? find_operator(node.target) : nullptr;
  if (row != nullptr) return row->form == OperatorForm::InPlace || row->form == OperatorForm::SetItem;
  const std::string_view last = node.target.substr(node.target.rfind('.') + 1);
  return node.kind != NodeKind::Placeholder && last.size() > 1 && last.ends_with('_') && !last.ends_with("__");
}

}  // namespace passnet::fx
