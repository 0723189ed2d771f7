// Whether an occurrence of a pattern may be replaced by one call: nothing inside it is needed outside,
// in-place operators do not come between, it does not overlap another occurrence, and the call does not
// depend on itself.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/search.h"

namespace passnet::rewrite {

/// Why an occurrence is refused, and the nodes to point at.
struct Refusal {
  ir::NodeId pattern_node = ir::kNoNode;
  ir::NodeId graph_node = ir::kNoNode;
  std::string reason;
};

/// A complete assignment and the graph's nodes it takes.
struct Occurrence {
  const Pattern& pattern;
  const Assignment& assignment;
  std::vector<ir::NodeId> nodes;       // sorted
  std::vector<ir::NodeId> pattern_of;  // the pattern's call of each

  Occurrence(const Pattern& of, const Assignment& found);
  bool contains(ir::NodeId id) const;
};

/// A replacement computes new values: it neither overwrites its inputs nor returns views of them or of each other.
/// Returns: why this would make a difference to a node outside of the occurrence; nullopt when it makes none. Part of
///          Legality::check.
/// steps: when they are used up, what was seen so far decides.
std::optional<Refusal> check_shared_memory(const Occurrence& occurrence, PreparedGraph& graph, Budget& steps);

class Legality {
 public:
  /// steps: when they are used up, what was seen so far decides.
  Legality(PreparedGraph& graph, Budget& steps);

  /// Returns: why the occurrence must not be replaced, given the occurrences accepted before; nullopt when it may be.
  std::optional<Refusal> check(const Pattern& pattern, const Assignment& assignment);
  /// Takes an occurrence that check() found legal.
  void accept(const Pattern& pattern, const Assignment& assignment);
  /// Returns: whether the node belongs to an accepted occurrence.
  bool is_taken(ir::NodeId id) const { return site_of_[id] != kNoSite; }

 private:
  static constexpr uint32_t kNoSite = ~uint32_t{0};

  std::optional<Refusal> check_overlap(const Occurrence& occurrence) const;
  std::optional<Refusal> check_inputs(const Occurrence& occurrence) const;
  std::optional<Refusal> check_escape(const Occurrence& occurrence);
  std::optional<Refusal> check_cycle(const Occurrence& occurrence);
  /// A covered range that overlaps [first, last], or covered_.end().
  std::map<ir::NodeId, ir::NodeId>::const_iterator overlapping(ir::NodeId first, ir::NodeId last) const;
  ir::NodeId path_limit(const Occurrence& occurrence) const;
  Refusal explain_cycle(const Occurrence& occurrence, ir::NodeId last) const;

  PreparedGraph& graph_;
  Budget& steps_;
  std::vector<uint32_t> site_of_;
  std::vector<std::vector<ir::NodeId>> sites_;  // nodes of the accepted occurrences, sorted
  std::map<ir::NodeId, ir::NodeId> covered_;    // first -> last node of where they lie, joined where they overlap
  std::vector<ir::NodeId> came_from_;           // check_cycle: the node a path came from; kNoNode when not visited
};

}  // namespace passnet::rewrite
