#include "dataset/official/graph_copy.h"

namespace passnet::dataset::official {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

GraphCopy::GraphCopy(const ir::Graph& from) : from_(from), here_(from.size()) {
  made_.reserve(from.size(), 4 * from.size());
  made_.file = from.file;
}

void GraphCopy::copy(NodeId id, std::string_view name) { copy_with(id, name, arguments(id)); }

void GraphCopy::copy_with(NodeId id, std::string_view name, std::span<const Arg> args) {
  const ir::Node& node = from_.node(id);
  if (node.kind == ir::NodeKind::Output) {
    made_.add_output(args.empty() ? Arg::none() : args.front());
    return;
  }
  if (node.kind == ir::NodeKind::Placeholder) {
    here_[id] = Arg::of_node(made_.import_placeholder(from_, node));
    made_.rename(here_[id].node, made_.intern(name));
    return;
  }
  const std::string_view target = retarget ? retarget(node) : node.target;
  here_[id] = Arg::of_node(
      made_.add_node(node.kind, made_.intern(target), made_.intern(name), args, keywords(id), node.offset));
}

Arg GraphCopy::add(ir::NodeKind kind, std::string_view target, std::string_view name, std::span<const Arg> args) {
  return Arg::of_node(made_.add_node(kind, made_.intern(target), made_.intern(name), args));
}

Arg GraphCopy::argument(const Arg& arg) {
  if (arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List || arg.kind == ArgKind::Slice) {
    std::vector<Arg> elements;
    for (const Arg& element : from_.elements(arg)) elements.push_back(argument(element));
    return made_.make_container(arg.kind, elements);
  }
  if (arg.kind != ArgKind::Node && replace) {
    if (const std::optional<Arg> replaced = replace(arg)) return *replaced;
  }
  return made_.import_arg(from_, arg, here_);
}

std::vector<Arg> GraphCopy::arguments(NodeId id) {
  std::vector<Arg> args;
  if (from_.node(id).kind == ir::NodeKind::Placeholder) return args;
  for (const Arg& arg : from_.args(id)) args.push_back(argument(arg));
  return args;
}

std::vector<ir::Keyword> GraphCopy::keywords(NodeId id) {
  std::vector<ir::Keyword> copies;
  for (const ir::Keyword& keyword : from_.keywords(id))
    copies.push_back({made_.intern(keyword.name), argument(keyword.value)});
  return copies;
}

}  // namespace passnet::dataset::official
