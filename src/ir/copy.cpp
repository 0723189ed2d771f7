#include "ir/copy.h"

namespace passnet::ir {

NodeId GraphCopy::copy_with(NodeId id, std::string_view name, std::span<const Arg> args) {
  const Node& node = from_.node(id);
  NodeId made = kNoNode;
  if (node.kind == NodeKind::Output) {
    // A variable of the model may be called "output" too, so the output keeps the name that it was given.
    made = to_.add_node(node.kind, to_.intern(node.target), to_.intern(name == node.name ? name : "output"), args, {},
                        node.offset);
  } else if (node.kind == NodeKind::Placeholder) {
    made = to_.import_placeholder(from_, node, node.offset);
    if (name != node.name) to_.rename(made, to_.intern(name));
  } else {
    std::vector<Keyword> keywords;
    for (const Keyword& keyword : from_.keywords(node))
      keywords.push_back({to_.intern(keyword.name), argument(keyword.value)});
    const std::string_view target = retarget ? retarget(node) : node.target;
    made = to_.add_node(node.kind, to_.intern(target), to_.intern(name), args, keywords, node.offset);
  }
  here_[id] = Arg::of_node(made);
  return made;
}

Arg GraphCopy::add(NodeKind kind, std::string_view target, std::string_view name, std::span<const Arg> args,
                   uint32_t offset) {
  return Arg::of_node(to_.add_node(kind, to_.intern(target), to_.intern(name), args, {}, offset));
}

Arg GraphCopy::argument(const Arg& arg) {
  if (replace) {
    if (const std::optional<Arg> replaced = replace(arg)) return *replaced;
  }
  if (arg.kind != ArgKind::Tuple && arg.kind != ArgKind::List && arg.kind != ArgKind::Slice)
    return to_.import_arg(from_, arg, here_);
  std::vector<Arg> elements;
  elements.reserve(arg.count);
  for (const Arg& element : from_.elements(arg)) elements.push_back(argument(element));
  return to_.make_container(arg.kind, elements);
}

std::vector<Arg> GraphCopy::arguments(NodeId id) {
  std::vector<Arg> args;
  if (from_.node(id).kind == NodeKind::Placeholder) return args;
  for (const Arg& arg : from_.args(id)) args.push_back(argument(arg));
  return args;
}

}  // namespace passnet::ir
