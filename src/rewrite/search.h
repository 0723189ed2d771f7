// The search for one occurrence of a pattern: backtracking over the operands of commutative operators and
// over the users of values already found. Knows structure only; whether an occurrence may be replaced is
// legality.h.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "rewrite/pattern.h"

namespace passnet::rewrite {

/// What the pattern's nodes stand for in the graph.
struct Assignment {
  std::vector<ir::Arg> values;  // by pattern node id; calls hold a Node
  std::vector<bool> bound;
  ir::NodeId node(ir::NodeId pattern_id) const {
    return bound[pattern_id] && values[pattern_id].kind == ir::ArgKind::Node ? values[pattern_id].node : ir::kNoNode;
  }
};

/// Where and why a partial match stopped.
struct Stop {
  enum class Why : uint8_t {
    None,
    Operator,   // another operator (or a graph input) where `pattern_node`'s is expected
    Constant,   // a literal where the result of `expected.node` is expected
    Literal,    // a different literal, or a value where a literal is expected
    Length,     // containers of different lengths, or a container against none
    Shared,     // the pattern's value stands for another node already
    Input,      // the pattern's input stands for another value already
    Container,  // a list of values where a pattern's input stands
    Twice,      // another pattern call stands for this node already
    NoUser,     // nothing that uses `graph_node` calls `pattern_node`'s operator
    Arguments,  // calls with different numbers of arguments (operators the table does not know)
    Sequence,   // in-place calls in another order than the pattern's
    Budget,     // too many ways to try
  };
  Why why = Why::None;
  uint32_t matched = 0;                   // pattern calls bound when it stopped
  ir::NodeId pattern_node = ir::kNoNode;  // the call being compared
  ir::NodeId graph_node = ir::kNoNode;    // what it is compared with
  uint32_t argument = 0;                  // index among the canonical arguments
  ir::Arg expected, found;                // expected: of the pattern; found: of the graph
};

class Search {
 public:
  /// accept: called for every complete assignment; returns false to go on searching.
  using Accept = std::function<bool(const Assignment&)>;
  Search(Pattern& pattern, PreparedGraph& graph, Budget& steps, Accept accept);

  /// Looks for an occurrence in which the pattern's call `root` is the graph's node `at`. REQUIRES: same
  /// operator. When the steps are used up it finds none.
  bool run(ir::NodeId root, ir::NodeId at);
  /// The deepest stop of all runs.
  const Stop& deepest() const { return deepest_; }

 private:
  struct Goal {  // the pattern's argument must be the graph's argument
    const Goal* next = nullptr;
    ir::Arg expected, found;
    ir::NodeId pattern_node = ir::kNoNode, graph_node = ir::kNoNode;
    uint32_t argument = 0;
  };

  bool pay(size_t steps);
  bool is_over() const;
  /// One choice inside the others for the lifetime of the object.
  struct Down {
    explicit Down(uint32_t& all) : depth(all) { ++depth; }
    ~Down() { --depth; }
    uint32_t& depth;
  };

  const Goal* keep(const Goal& goal);
  bool solve(const Goal* goal);
  bool solve_swapped(ir::NodeId expected, ir::NodeId found, const Goal* rest);
  bool extend();
  bool try_user(ir::NodeId call, ir::NodeId candidate);
  const Goal* push_arguments(ir::NodeId expected, ir::NodeId found, bool swapped, const Goal* rest);
  const Goal* push_elements(const Goal& goal);
  bool unify_input(const Goal& goal, ir::NodeId placeholder);
  bool unify_literal(const Goal& goal);
  bool unify_size(const Goal& goal);
  bool bind_call(const Goal& goal, ir::NodeId expected);
  bool can_swap(ir::NodeId expected, ir::NodeId found);
  bool in_sequence();
  void bind(ir::NodeId pattern_id, const ir::Arg& value);
  void undo(size_t mark);
  bool stop(Stop::Why why, const Goal& goal);

  Pattern& pattern_;
  PreparedGraph& graph_;
  Budget& all_steps_;
  Accept accept_;
  Assignment assignment_;
  std::vector<bool> is_taken_;     // by node of the graph: a call of the pattern stands for it
  std::vector<ir::NodeId> trail_;  // pattern nodes in the order they were bound; kNoNode: the next of sizes_
  std::vector<std::pair<int64_t, int64_t>> sizes_;  // numbers of the pattern, and the sizes that they stand for
  uint32_t matched_ = 0;                            // of them, calls
  std::deque<Goal> goals_;                          // the first `used_goals_` are in use; stable addresses
  size_t used_goals_ = 0;
  uint32_t steps_ = 0;  // of this run
  uint32_t depth_ = 0;  // choices that are open
  Stop deepest_;
};

/// A value that only holds constants (or no values at all), at any depth.
bool is_constant(const ir::Graph& graph, const ir::Arg& arg);

}  // namespace passnet::rewrite
