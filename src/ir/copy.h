// Copies nodes of one graph into another, with changes on the way.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::ir {

class GraphCopy {
 public:
  /// Both must outlive the copy. `to` may hold nodes already.
  GraphCopy(const Graph& from, Graph& to) : from_(from), to_(to), here_(from.size()) {}

  /// Returns the replacement of an argument of `from`, or of an element of one; nullopt copies it. Asked about containers
  /// before their elements. The text of a replacement must live in `to`. May be empty.
  std::function<std::optional<Arg>(const Arg& arg)> replace;
  /// Returns the target of a node's copy. May be empty.
  std::function<std::string_view(const Node& node)> retarget;

  /// Copies node `id` under a name; placeholders keep their name in the signature, and the output is never renamed but to "output".
  NodeId copy(NodeId id, std::string_view name) { return copy_with(id, name, arguments(id)); }
  NodeId copy(NodeId id) { return copy(id, from_.node(id).name); }
  /// Copies node `id` with these positional arguments in place of its own.
  NodeId copy_with(NodeId id, std::string_view name, std::span<const Arg> args);
  /// Adds a node that `from` does not have.
  Arg add(NodeKind kind, std::string_view target, std::string_view name, std::span<const Arg> args,
          uint32_t offset = 0);

  Arg argument(const Arg& arg);
  /// Copies of a node's positional arguments; a placeholder has none.
  std::vector<Arg> arguments(NodeId id);
  /// Sets the argument of `to` that is passed on for the value of node `id`.
  void stand_for(NodeId id, const Arg& value) { here_[id] = value; }
  const Arg& here(NodeId id) const { return here_[id]; }

 private:
  const Graph& from_;
  Graph& to_;
  std::vector<Arg> here_;  // by node id of `from`
};

}  // namespace passnet::ir
