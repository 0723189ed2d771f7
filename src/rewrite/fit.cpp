#include "rewrite/fit.h"

#include <algorithm>
#include <vector>

#include "rewrite/generalize.h"

namespace passnet::rewrite {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

class Fit {
 public:
  Fit(const Pattern& pattern, PreparedGraph& graph, Budget& steps)
      : pattern_(pattern),
        graph_(graph),
        steps_(steps),
        values_(pattern.graph->size()),
        bound_(pattern.graph->size()) {}

  uint32_t count(NodeId root, NodeId at) {
    assign(root, at);
    uint32_t fitting = 0;
    for (size_t next = 0; next < queue_.size(); ++next) {
      const NodeId call = queue_[next];
      if (!steps_.charge(1 + pattern_.prepared->call(call).args.size())) break;
      fitting += arguments_fit(call, values_[call].node) ? 1 : 0;
      follow_users(call, values_[call].node);
    }
    return fitting;
  }

 private:
  void bind(NodeId id, const Arg& value) {
    values_[id] = value;
    bound_[id] = true;
  }

  // The pattern's call stands for the graph's, if that may be. False when it stands for another, or the operator
  // differs.
  bool assign(NodeId call, NodeId found) {
    if (bound_[call]) return values_[call].node == found;
    if (!steps_.charge(1 + queue_.size() / 8)) return false;
    const auto stands_for_found = [&](NodeId other) { return values_[other].node == found; };
    if (graph_.name(found) != pattern_.prepared->name(call) ||
        std::any_of(queue_.begin(), queue_.end(), stands_for_found))
      return false;
    bind(call, Arg::of_node(found));
    queue_.push_back(call);
    return true;
  }

  bool arguments_fit(NodeId call, NodeId found) {
    const ir::CanonicalCall& ours = pattern_.prepared->call(call);
    const ir::CanonicalCall& theirs = graph_.call(found);
    if (ours.names != theirs.names) return false;
    const bool swapped = is_swapped(ours, theirs);
    bool fit = true;
    for (size_t i = 0; i < ours.args.size(); ++i) {
      const size_t j = swapped && i < 2 ? 1 - i : i;
      if (!argument_fits(ours, static_cast<uint32_t>(i), ours.args[i], theirs.args[j]))
        fit = false;  // and go on: what the others stand for is wanted
    }
    return fit;
  }

  bool may_stand_for(const Arg& ours, const Arg& theirs) const {
    if (ours.kind != ArgKind::Node || theirs.kind != ArgKind::Node) return ours.kind == theirs.kind;
    if (bound_[ours.node]) return ir::equal_args(graph_.graph(), values_[ours.node], graph_.graph(), theirs);
    return pattern_.is_placeholder(ours.node) || pattern_.prepared->name(ours.node) == graph_.name(theirs.node);
  }

  bool is_swapped(const ir::CanonicalCall& ours, const ir::CanonicalCall& theirs) const {
    if (!theirs.signature || !theirs.signature->commutative) return false;
    const bool straight = may_stand_for(ours.args[0], theirs.args[0]) && may_stand_for(ours.args[1], theirs.args[1]);
    return !straight && may_stand_for(ours.args[0], theirs.args[1]) && may_stand_for(ours.args[1], theirs.args[0]);
  }

  /// argument: which of the call's; ours: it, or an element of it.
  bool argument_fits(const ir::CanonicalCall& call, uint32_t argument, const Arg& ours, const Arg& theirs) {
    if (graph_.options().generalize && may_stand_for_size(call, argument, ours, theirs)) return true;
    const bool is_list = ours.kind == ArgKind::Tuple || ours.kind == ArgKind::List || ours.kind == ArgKind::Slice;
    if (ours.kind == ArgKind::Node) {
      if (!pattern_.is_placeholder(ours.node)) {
        if (theirs.kind != ArgKind::Node || bound_[ours.node])
          return theirs.kind == ArgKind::Node && values_[ours.node].node == theirs.node;
        assign(ours.node, theirs.node);  // where that is another operator, it is that one that does not fit
        return true;
      }
      if (bound_[ours.node]) return ir::equal_args(graph_.graph(), values_[ours.node], graph_.graph(), theirs);
      bind(ours.node, theirs);
      return true;
    }
    if (!is_list) return ir::equal_args(*pattern_.graph, ours, graph_.graph(), theirs);
    if (theirs.kind != ours.kind || theirs.count != ours.count) return false;
    const auto expected = pattern_.graph->elements(ours);
    const auto found = graph_.graph().elements(theirs);
    bool fit = true;
    if (!steps_.charge(expected.size())) return false;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (!argument_fits(call, argument, expected[i], found[i])) fit = false;
    }
    return fit;
  }

  // The pattern's calls that use this one, at the first user of the same operator.
  void follow_users(NodeId call, NodeId found) {
    for (const NodeId user : pattern_.prepared->users(call)) {
      if (!steps_.charge(1)) return;
      if (bound_[user] || !std::ranges::binary_search(pattern_.calls, user)) continue;
      for (const NodeId candidate : graph_.users(found)) {
        if (!steps_.charge(1) || assign(user, candidate)) break;
      }
    }
  }

  const Pattern& pattern_;
  PreparedGraph& graph_;
  Budget& steps_;            // when it is used up, what was found so far counts
  std::vector<Arg> values_;  // by pattern node: what it stands for, where `bound_`
  std::vector<bool> bound_;
  std::vector<NodeId> queue_;  // calls that stand for something, in the order in which they were found
};

}  // namespace

uint32_t count_fitting(const Pattern& pattern, PreparedGraph& graph, NodeId root, NodeId at, Budget& steps) {
  return Fit(pattern, graph, steps).count(root, at);
}

}  // namespace passnet::rewrite
