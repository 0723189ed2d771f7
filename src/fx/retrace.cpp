#include "fx/retrace.h"

#include <span>
#include <string_view>
#include <vector>

#include "fx/trace_names.h"

namespace passnet::fx {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;
using ir::NodeKind;

namespace {

// Copies a graph node by node under the names of a second trace.
class Tracer {
 public:
  explicit Tracer(const ir::Graph& from) : from_(from), values_(from.size()), names_(from, Numbering::FromItself) {}

  ir::Graph trace() {
    for (NodeId id = 0; id < from_.size(); ++id) copy(id);
    return std::move(to_);
  }

 private:
  void copy(NodeId id);
  Arg import_arg(const Arg& arg, bool in_slice);

  const ir::Graph& from_;
  ir::Graph to_;
  std::vector<Arg> values_;  // by id of `from_`
  TraceNames names_;
};

Arg Tracer::import_arg(const Arg& arg, bool in_slice) {
  if (arg.kind == ArgKind::Node && in_slice && arg.node < from_.placeholder_count()) {
    const ir::Node& node = from_.node(arg.node);
    if (node.arg_count == 0 || from_.args(node)[0].string() != "torch.SymInt") return values_[arg.node];
    const std::string_view name = to_.intern(names_.create("item"));
    return Arg::of_node(to_.add_node(NodeKind::CallMethod, "item", name, std::span(&values_[arg.node], 1)));
  }
  if (arg.kind != ArgKind::Tuple && arg.kind != ArgKind::List && arg.kind != ArgKind::Slice)
    return to_.import_arg(from_, arg, values_);
  std::vector<Arg> elements;
  elements.reserve(arg.count);
  for (const Arg& element : from_.elements(arg)) elements.push_back(import_arg(element, arg.kind == ArgKind::Slice));
  return to_.make_container(arg.kind, elements);
}

void Tracer::copy(NodeId id) {
  const ir::Node& node = from_.node(id);
  if (node.kind == NodeKind::Placeholder) {
    values_[id] = Arg::of_node(to_.import_placeholder(from_, node));
    return;
  }
  std::vector<Arg> args;
  std::vector<ir::Keyword> keywords;
  for (const Arg& arg : from_.args(node)) args.push_back(import_arg(arg, false));
  for (const ir::Keyword& keyword : from_.keywords(node))
    keywords.push_back({to_.intern(keyword.name), import_arg(keyword.value, false)});
  if (node.kind == NodeKind::Output) {
    to_.add_output(args.empty() ? Arg::none() : args[0]);
    return;
  }
  const std::string_view name = to_.intern(names_.next(id));
  values_[id] = Arg::of_node(to_.add_node(node.kind, to_.intern(node.target), name, args, keywords));
}

}  // namespace

ir::Graph trace_again(const ir::Graph& graph) { return Tracer(graph).trace(); }

}  // namespace passnet::fx
