// A graph made ready for matching: canonical calls, an index by operator, users, and the order constraints.
// Made once and shared by all patterns that are tried on the graph; everything costly is made when first
// asked for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/ops/table.h"
#include "rewrite/match_options.h"
#include "rewrite/order.h"

namespace passnet::rewrite {

class PreparedGraph {
 public:
  /// graph:  must outlive this and keep its nodes; its pool may grow.
  /// options: strict: calls keep their literal form.
  explicit PreparedGraph(ir::Graph& graph, const MatchOptions& options = {});

  ir::Graph& graph() { return graph_; }
  const ir::Graph& graph() const { return graph_; }
  const MatchOptions& options() const { return options_; }

  /// Returns: the canonical name of the operator that the node calls, or its spelling when strict, or when the operator
  ///          is not known; empty for placeholders and the output.
  std::string_view name(ir::NodeId id) const { return names_[id]; }
  /// error:    receives why a call does not fit its signature; may be null.
  /// Returns:  the call in canonical form; in its literal form when strict, or when it does not fit its signature.
  /// REQUIRES: the node is neither a placeholder nor the output.
  const ir::CanonicalCall& call(ir::NodeId id, std::optional<Error>* error = nullptr);
  /// Returns: the nodes that call `name`, in graph order.
  std::span<const ir::NodeId> calls_of(std::string_view name) const;
  /// Returns: the names of all operators of the graph, sorted.
  std::vector<std::string_view> operators() const;
  /// Returns: the nodes that have `id` as an input, in graph order, each once.
  std::span<const ir::NodeId> users(ir::NodeId id);
  const Order& order();
  /// As Graph::locate, but fast: the lines of the source are indexed once.
  SourceLoc locate(ir::NodeId id) const;
  /// " at line 7", or nothing without a source text.
  std::string at_line(ir::NodeId id) const;

 private:
  ir::Graph& graph_;
  MatchOptions options_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::vector<ir::NodeId>> index_;
  std::vector<ir::CanonicalCall> calls_;
  std::vector<bool> has_call_;
  std::vector<uint32_t> first_user_;
  std::vector<ir::NodeId> users_;
  std::optional<Order> order_;
  mutable std::vector<uint32_t> line_starts_;  // byte offsets in the source
};

}  // namespace passnet::rewrite
