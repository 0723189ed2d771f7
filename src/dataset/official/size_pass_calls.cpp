#include <algorithm>
#include <iterator>

#include "dataset/official/size_pass.h"

namespace passnet::dataset::official {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

bool SizePass::is_method(NodeId id, std::string_view target) const {
  const ir::Node& node = graph().node(id);
  return node.kind == NodeKind::CallMethod && node.target == target && args(id).size() >= 2;
}

bool SizePass::is_function(NodeId id, std::string_view target) const {
  const ir::Node& node = graph().node(id);
  return node.kind == NodeKind::CallFunction && node.target == target;
}

bool SizePass::holds_size(const Arg& container, int64_t more) const {
  return std::ranges::any_of(graph().elements(container), [&](const Arg& arg) { return is_size(arg, more); });
}

bool SizePass::is_made_of(NodeId id, int64_t more) const {
  if (args(id).empty()) return false;
  const Arg& sizes = args(id)[0];
  return (sizes.kind == ArgKind::Tuple || sizes.kind == ArgKind::List) && holds_size(sizes, more);
}

bool SizePass::is_head(const Arg& item) const {
  if (item.kind != ArgKind::Slice) return false;
  const auto bounds = graph().elements(item);
  return is_size(bounds[1]) && is_first(bounds[0]) && is_dense(bounds[2]);
}

bool SizePass::is_tail(const Arg& item) const {
  if (item.kind != ArgKind::Slice) return false;
  const auto bounds = graph().elements(item);
  return is_literal(bounds[0], -size_.captured) && bounds[1].kind == ArgKind::None && is_dense(bounds[2]);
}

bool SizePass::is_view_to_tuple(NodeId id) const {
  return is_view(id) && args(id).size() == 2 && args(id)[1].kind == ArgKind::Tuple && holds_size(args(id)[1]);
}

bool SizePass::is_expand_of_one(NodeId id) const {
  const auto shape = is_expand(id) ? shape_of(args(id)[0]) : std::nullopt;
  return shape && !shape->empty() && args(id).size() == shape->size() + 1 && shape->front() == 1 &&
         has_literal(id, 1) && args(id)[1].integer >= 1;
}

bool SizePass::is_reshape_to_one(NodeId id) const {
  if (!is_reshape(id) || args(id).size() != 2) return false;
  const Arg& sizes = args(id)[1];
  if (sizes.kind != ArgKind::Tuple && sizes.kind != ArgKind::List) return false;
  return sizes.count > 0 && is_literal(graph().elements(sizes)[0], 1);
}

bool SizePass::is_view_without_batch(NodeId id) const {
  if (!is_view(id) || args(id).size() != 4 || !has_literal(id, 1) || !is_literal(args(id)[2], -1)) return false;
  const auto shape = shape_of(args(id)[0]);
  return shape && shape->size() == 4;
}

bool SizePass::is_new_tensor(NodeId id) const {
  static constexpr std::string_view kNew[] = {"torch.zeros", "torch.ones", "torch.empty", "torch.randn", "torch.rand"};
  const ir::Node& node = graph().node(id);
  return node.kind == NodeKind::CallFunction && std::ranges::find(kNew, node.target) != std::end(kNew);
}

bool SizePass::is_expand_to_size(NodeId id) const {
  return size_.captured > 1 && is_expand(id) &&
         std::ranges::any_of(args(id).subspan(1), [&](const Arg& arg) { return is_size(arg); });
}

bool SizePass::is_range(NodeId id) const {
  if (!is_function(id, "torch.arange")) return false;
  return (args(id).size() == 1 && is_size(args(id)[0])) ||
         (args(id).size() == 2 && is_literal(args(id)[0], 0) && is_size(args(id)[1]));
}

bool SizePass::is_longer_range(NodeId id) const {
  return is_function(id, "torch.arange") && args(id).size() == 1 && is_size(args(id)[0], 1);
}

bool SizePass::is_longer_range_beside_triangle(NodeId id) const {
  if (!is_longer_range(id)) return false;
  for (NodeId other = 0; other < graph().size(); ++other) {
    if (!is_function(other, "torch.triu") || args(other).size() != 1) continue;
    const auto shape = shape_of(args(other)[0]);
    if (shape && std::ranges::find(*shape, size_.captured + 1) != shape->end()) return true;
  }
  return false;
}

bool SizePass::is_full_for_triangle(NodeId id) const {
  if (!is_function(id, "torch.full") || args(id).size() != 1 || !is_made_of(id, 1)) return false;
  for (NodeId user = id + 1; user < graph().size(); ++user) {
    bool uses = false;
    for_each_input(graph(), graph().node(user), [&](NodeId input) { uses |= input == id; });
    if (uses && is_function(user, "torch.triu")) return true;
  }
  return false;
}

bool SizePass::is_slice_of_size(NodeId id) const {
  const ir::Node& node = graph().node(id);
  if (node.kind != NodeKind::Operator || node.target != "getitem" || args(id)[1].kind != ArgKind::Tuple) return false;
  return std::ranges::any_of(graph().elements(args(id)[1]),
                             [&](const Arg& item) { return is_head(item) || is_tail(item); });
}

bool SizePass::is_view_to_numbers(NodeId id) const {
  return is_view(id) && has_literal(id, 1) &&
         std::ranges::none_of(args(id).subspan(1), [](const Arg& arg) { return is_literal(arg, -1); });
}

}  // namespace passnet::dataset::official
