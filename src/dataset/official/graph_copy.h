// A graph copied node by node, with changes on the way. Internal to dataset/official.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::dataset::official {

class GraphCopy {
 public:
  explicit GraphCopy(const ir::Graph& from);

  /// What stands for a literal of the graph; nullopt leaves it. Texts of the answer must live in `made()`. May be empty.
  std::function<std::optional<ir::Arg>(const ir::Arg& literal)> replace;
  /// What a node calls instead of its target. May be empty.
  std::function<std::string_view(const ir::Node& node)> retarget;

  /// Node `id` under this name; placeholders keep the name of their signature, and the output has none.
  void copy(ir::NodeId id, std::string_view name);
  void copy(ir::NodeId id) { copy(id, from_.node(id).name); }
  /// Node `id` with these arguments in place of its own.
  void copy_with(ir::NodeId id, std::string_view name, std::span<const ir::Arg> args);
  /// A node that the graph does not have.
  ir::Arg add(ir::NodeKind kind, std::string_view target, std::string_view name, std::span<const ir::Arg> args);

  /// An argument of the graph for `made()`.
  ir::Arg argument(const ir::Arg& arg);
  std::vector<ir::Arg> arguments(ir::NodeId id);
  /// Decides what stands for the value of node `id`.
  void stand_for(ir::NodeId id, const ir::Arg& value) { here_[id] = value; }
  const ir::Arg& here(ir::NodeId id) const { return here_[id]; }

  ir::Graph& made() { return made_; }

 private:
  std::vector<ir::Keyword> keywords(ir::NodeId id);

  const ir::Graph& from_;
  ir::Graph made_;
  std::vector<ir::Arg> here_;  // by node id of the graph
};

}  // namespace passnet::dataset::official
