// The arguments of a call, by their canonical names and as what they must be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/ops/table.h"

namespace passnet::author {

/// All errors: Unsupported: the argument is something else, or another constant in each graph.
class Arguments {
 public:
  /// id: the node that makes the call. graph, call: must outlive this.
  Arguments(const ir::Graph& graph, ir::NodeId id, const ir::CanonicalCall& call)
      : graph_(graph), call_(call), id_(id) {}

  ir::NodeId id() const { return id_; }
  /// The operator's canonical name, of an in-place form too: "relu".
  std::string_view name() const {
    return call_.name.substr(0, call_.name.size() - (call_.name.ends_with('_') ? 1 : 0));
  }
  /// The name of its result in the graph.
  std::string value_name() const { return std::string(graph_.node(id_).name); }
  const ir::Arg& at(std::string_view name) const;
  /// Tells whether it is there and not None.
  bool given(std::string_view name) const;
  Result<int64_t> integer(std::string_view name) const;
  Result<bool> flag(std::string_view name) const;
  Result<std::vector<int64_t>> integers(std::string_view name) const;
  /// A dimension of a tensor of that rank, from 0.
  Result<int64_t> dimension(std::string_view name, int64_t rank) const;
  /// Sorted; all of them where none is given.
  Result<std::vector<int64_t>> dimensions(std::string_view name, int64_t rank) const;
  /// Tells whether the arguments are as "parameter=literal parameter=literal" says.
  bool hold(std::string_view condition) const;

 private:
  const ir::Graph& graph_;
  const ir::CanonicalCall& call_;
  ir::NodeId id_;
};

}  // namespace passnet::author
