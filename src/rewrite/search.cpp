#include "rewrite/search.h"

#include <algorithm>

#include "rewrite/generalize.h"

namespace passnet::rewrite {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

// Comparisons in one run, and what is put down to be compared; a pattern of n commutative calls could ask for 2^n.
constexpr uint32_t kMaxSteps = 50'000;
constexpr size_t kMostGoals = 200'000;
constexpr uint32_t kMostChoices = 10'000;  // inside each other

bool is_container(const Arg& arg) {
  return arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List || arg.kind == ArgKind::Slice;
}

/// Values in an argument, besides itself.
size_t weight_of(const ir::Graph& graph, const Arg& arg) {
  if (!is_container(arg)) return 0;
  size_t weight = 0;
  for (const Arg& element : graph.elements(arg)) weight += 1 + weight_of(graph, element);
  return weight;
}

/// The same argument in two graphs, without looking into node references or containers.
bool same_literal(const Arg& a, const Arg& b) {
  static const ir::Graph kEmpty;
  return a.kind == b.kind && a.kind != ArgKind::Node && !is_container(a) && ir::equal_args(kEmpty, a, kEmpty, b);
}

}  // namespace

bool is_constant(const ir::Graph& graph, const Arg& arg) {
  bool constant = true;
  ir::for_each_node(graph, arg, [&](NodeId) { constant = false; });
  return constant;
}

Search::Search(Pattern& pattern, PreparedGraph& graph, Budget& steps, Accept accept)
    : pattern_(pattern), graph_(graph), all_steps_(steps), accept_(std::move(accept)) {
  assignment_.values.resize(pattern.graph->size());
  assignment_.bound.resize(pattern.graph->size());
  is_taken_.resize(graph.graph().size());
}

bool Search::run(NodeId root, NodeId at) {
  undo(0);
  used_goals_ = 0;
  steps_ = 0;
  Goal goal;
  goal.expected = Arg::of_node(root);
  goal.found = Arg::of_node(at);
  goal.pattern_node = root;
  goal.graph_node = at;
  return solve(keep(goal));
}

/// False when there are no steps left: the run ends.
bool Search::pay(size_t steps) {
  if (all_steps_.charge(steps)) return true;
  steps_ = kMaxSteps + 1;
  return false;
}

bool Search::is_over() const { return steps_ > kMaxSteps || used_goals_ > kMostGoals || depth_ > kMostChoices; }

const Search::Goal* Search::keep(const Goal& goal) {
  if (used_goals_ == goals_.size()) goals_.emplace_back();
  goals_[used_goals_] = goal;
  return &goals_[used_goals_++];
}

bool Search::stop(Stop::Why why, const Goal& goal) {
  if (deepest_.why == Stop::Why::None || matched_ > deepest_.matched)
    deepest_ = {why, matched_, goal.pattern_node, goal.graph_node, goal.argument, goal.expected, goal.found};
  return false;
}

void Search::bind(NodeId pattern_id, const Arg& value) {
  assignment_.values[pattern_id] = value;
  assignment_.bound[pattern_id] = true;
  trail_.push_back(pattern_id);
  if (pattern_.is_placeholder(pattern_id)) return;
  ++matched_;
  is_taken_[value.node] = true;
}

void Search::undo(size_t mark) {
  while (trail_.size() > mark) {
    const NodeId id = trail_.back();
    trail_.pop_back();
    if (id == ir::kNoNode) {
      sizes_.pop_back();
      continue;
    }
    assignment_.bound[id] = false;
    if (pattern_.is_placeholder(id)) continue;
    --matched_;
    is_taken_[assignment_.values[id].node] = false;
  }
}

/// Solves goals one after the other; a choice is a recursive call. What a failure leaves bound the last choice undoes.
bool Search::solve(const Goal* goal) {
  const Down down(depth_);
  while (goal) {
    ++steps_;
    if (!pay(1) || is_over()) return stop(Stop::Why::Budget, *goal);
    if (goal->expected.kind == ArgKind::Node) {
      const NodeId expected = goal->expected.node;
      if (!pattern_.is_placeholder(expected)) {
        if (!assignment_.bound[expected]) {
          if (!bind_call(*goal, expected)) return false;
          const NodeId found = goal->found.node;
          if (can_swap(expected, found)) return solve_swapped(expected, found, goal->next);
          goal = push_arguments(expected, found, false, goal->next);
          continue;
        }
        if (goal->found.kind != ArgKind::Node) return stop(Stop::Why::Constant, *goal);
        if (assignment_.values[expected].node != goal->found.node) return stop(Stop::Why::Shared, *goal);
      } else if (!unify_input(*goal, expected)) {
        return false;
      }
    } else if (is_container(goal->expected)) {
      if (goal->found.kind != goal->expected.kind) return stop(Stop::Why::Literal, *goal);
      if (goal->found.count != goal->expected.count) return stop(Stop::Why::Length, *goal);
      goal = push_elements(*goal);
      continue;
    } else if (!unify_literal(*goal)) {
      return false;
    }
    goal = goal->next;
  }
  return extend();
}

bool Search::unify_literal(const Goal& goal) {
  if (graph_.options().generalize &&
      may_stand_for_size(pattern_.prepared->call(goal.pattern_node), goal.argument, goal.expected, goal.found))
    return unify_size(goal) || stop(Stop::Why::Literal, goal);
  return same_literal(goal.expected, goal.found) || stop(Stop::Why::Literal, goal);
}

/// Equal numbers of the pattern are one size.
bool Search::unify_size(const Goal& goal) {
  const int64_t number = goal.expected.integer, size = goal.found.integer;
  if (!is_one_symbol(number)) return true;
  const auto known = std::ranges::find(sizes_, number, &std::pair<int64_t, int64_t>::first);
  if (known != sizes_.end()) return known->second == size;
  sizes_.emplace_back(number, size);
  trail_.push_back(ir::kNoNode);
  return true;
}

bool Search::unify_input(const Goal& goal, NodeId placeholder) {
  if (!pay(weight_of(graph_.graph(), goal.found))) return false;
  if (assignment_.bound[placeholder])
    return ir::equal_args(graph_.graph(), assignment_.values[placeholder], graph_.graph(), goal.found) ||
           stop(Stop::Why::Input, goal);
  if (goal.found.kind != ArgKind::Node && !is_constant(graph_.graph(), goal.found))
    return stop(Stop::Why::Container, goal);
  bind(placeholder, goal.found);
  return true;
}

bool Search::bind_call(const Goal& goal, NodeId expected) {
  if (goal.found.kind != ArgKind::Node) return stop(Stop::Why::Constant, goal);
  const NodeId found = goal.found.node;
  if (graph_.name(found) != pattern_.prepared->name(expected)) return stop(Stop::Why::Operator, goal);
  if (is_taken_[found]) return stop(Stop::Why::Twice, goal);
  const ir::CanonicalCall& ours = pattern_.prepared->call(expected);
  const ir::CanonicalCall& theirs = graph_.call(found);
  if (!pay(theirs.args.size() / 4)) return false;
  if (ours.names != theirs.names) {
    Goal at = goal;
    at.pattern_node = expected;
    at.graph_node = found;
    return stop(Stop::Why::Arguments, at);
  }
  bind(expected, goal.found);
  return true;
}

bool Search::solve_swapped(NodeId expected, NodeId found, const Goal* rest) {
  const size_t mark = trail_.size();
  if (solve(push_arguments(expected, found, false, rest))) return true;
  undo(mark);
  if (is_over()) return false;
  return solve(push_arguments(expected, found, true, rest));
}

/// Operands may be swapped when nothing but the two operands is given: add(a, b, alpha=2) is not add(b, a,
/// alpha=2).
bool Search::can_swap(NodeId expected, NodeId found) {
  const ir::CanonicalCall& theirs = graph_.call(found);
  if (!theirs.signature || !theirs.signature->commutative) return false;
  const ir::CanonicalCall& ours = pattern_.prepared->call(expected);
  for (size_t i = 2; i < theirs.args.size(); ++i) {
    const bool is_default = theirs.args[i].kind == ArgKind::Int && theirs.args[i].integer == 1;  // alpha
    if (!is_default || !same_literal(ours.args[i], theirs.args[i])) return false;
  }
  return theirs.args[0].kind == ArgKind::Node && theirs.args[1].kind == ArgKind::Node;
}

const Search::Goal* Search::push_arguments(NodeId expected, NodeId found, bool swapped, const Goal* rest) {
  const ir::CanonicalCall& theirs = graph_.call(found);
  const ir::CanonicalCall& ours = pattern_.prepared->call(expected);
  for (size_t i = ours.args.size(); i-- > 0;) {
    const size_t j = swapped && i < 2 ? 1 - i : i;
    rest = keep(Goal{rest, ours.args[i], theirs.args[j], expected, found, static_cast<uint32_t>(j)});
  }
  return rest;
}

const Search::Goal* Search::push_elements(const Goal& goal) {
  const auto expected = pattern_.graph->elements(goal.expected);
  const auto found = graph_.graph().elements(goal.found);
  const Goal* rest = goal.next;
  pay(expected.size());
  for (size_t i = expected.size(); i-- > 0;)
    rest = keep(Goal{rest, expected[i], found[i], goal.pattern_node, goal.graph_node, goal.argument});
  return rest;
}

/// Everything reached so far fits. Goes on with a call that uses a value already found, then with any other
/// call.
bool Search::extend() {
  NodeId call = ir::kNoNode, used = ir::kNoNode;
  size_t looked_at = pattern_.calls.size() / 8;
  for (const NodeId id : pattern_.calls) {
    if (assignment_.bound[id]) continue;
    ++looked_at;
    if (call == ir::kNoNode) call = id;
    ir::for_each_input(*pattern_.graph, pattern_.graph->node(id), [&](NodeId input) {
      if (used == ir::kNoNode && assignment_.node(input) != ir::kNoNode) {
        used = assignment_.node(input);
        call = id;
      }
    });
    if (used != ir::kNoNode) break;
  }
  if (!pay(looked_at)) return false;
  if (call == ir::kNoNode) return in_sequence() && accept_(assignment_);
  const auto candidates = used == ir::kNoNode ? graph_.calls_of(pattern_.prepared->name(call)) : graph_.users(used);
  bool any = false;
  for (const NodeId candidate : candidates) {
    if (!pay(1)) return false;
    if (graph_.name(candidate) != pattern_.prepared->name(call)) continue;
    any = true;
    if (try_user(call, candidate)) return true;
    if (is_over()) return false;
  }
  Goal goal;
  goal.pattern_node = call;
  goal.graph_node = used;
  return any ? false : stop(Stop::Why::NoUser, goal);
}

bool Search::try_user(NodeId call, NodeId candidate) {
  const size_t mark = trail_.size();
  const Goal goal{nullptr, Arg::of_node(call), Arg::of_node(candidate), call, candidate, 0};
  if (solve(keep(goal))) return true;
  undo(mark);
  return false;
}

bool Search::in_sequence() {
  for (const auto& [before, after] : pattern_.ordered) {
    if (assignment_.node(before) < assignment_.node(after)) continue;
    const Goal goal{nullptr, Arg::of_node(before),    Arg::of_node(assignment_.node(before)),
                    after,   assignment_.node(after), 0};
    return stop(Stop::Why::Sequence, goal);
  }
  return true;
}

}  // namespace passnet::rewrite
