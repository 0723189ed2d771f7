// Values of a graph with launch lists that share memory: by its operators, and by what lists return of their inputs.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "pass/plan/launch_list.h"

namespace passnet::pass {

/// The list that a node launches, by its index; none: the node is another, or there is no such list.
std::optional<size_t> launched_list(const ir::Graph& graph, ir::NodeId id, size_t lists);
/// The value that such a node gives to a buffer of its list; kNoNode: none, the plan allocates it.
ir::NodeId given_value(const ir::Graph& graph, ir::NodeId id, const Buffer& buffer);

/// The results of a list have a memory of their own, and one that they share with what the list returns of its inputs.
class Memories {
 public:
  Memories(const ir::Graph& graph, const std::vector<LaunchList>& lists);
  ir::NodeId own(ir::NodeId value) const { return own_[value]; }
  /// Two values with different numbers share no memory.
  ir::NodeId shared(ir::NodeId value) const;
  /// Tells whether an own memory is `target`, or one that lists made of that alone by returning their inputs.
  bool comes_from(ir::NodeId memory, ir::NodeId target) const;

 private:
  std::vector<ir::NodeId> own_, root_;
  std::map<ir::NodeId, std::vector<ir::NodeId>> lies_on_;
};

/// By placeholder: false only where neither an operator nor a kernel writes to its memory.
std::vector<bool> inputs_that_may_be_written(const ir::Graph& graph, const std::vector<LaunchList>& lists);

}  // namespace passnet::pass
