// Whether an occurrence of a pattern may be replaced by one call: nothing inside it is needed outside, in-place
// operators do not come between, it does not overlap another occurrence, and the call does not depend on itself.
#pragma once

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

class Legality {
 public:
  explicit Legality(PreparedGraph& graph);

  /// The reason not to replace `assignment`, besides the occurrences accepted before; nullopt when it may be replaced.
  std::optional<Refusal> check(const Pattern& pattern, const Assignment& assignment);
  /// Takes an occurrence that check() found legal.
  void accept(const Pattern& pattern, const Assignment& assignment);
  /// The node belongs to an accepted occurrence.
  bool is_taken(ir::NodeId id) const { return site_of_[id] != kNoSite; }

 private:
  static constexpr uint32_t kNoSite = ~uint32_t{0};
  struct Site {
    std::vector<ir::NodeId> nodes;  // sorted
  };
  struct Candidate {
    const Pattern& pattern;
    const Assignment& assignment;
    std::vector<ir::NodeId> nodes;       // sorted
    std::vector<ir::NodeId> pattern_of;  // the pattern's call of each
  };

  Candidate make_candidate(const Pattern& pattern, const Assignment& assignment) const;
  std::optional<Refusal> check_overlap(const Candidate& candidate) const;
  std::optional<Refusal> check_inputs(const Candidate& candidate) const;
  std::optional<Refusal> check_escape(const Candidate& candidate);
  std::optional<Refusal> check_shared_memory(const Candidate& candidate);
  std::optional<Refusal> check_cycle(const Candidate& candidate);
  ir::NodeId path_limit(const Candidate& candidate) const;
  Refusal explain_cycle(const Candidate& candidate, ir::NodeId last) const;
  std::string at_line(ir::NodeId id) const;

  PreparedGraph& graph_;
  std::vector<uint32_t> site_of_;
  std::vector<Site> sites_;
  std::vector<ir::NodeId> came_from_;  // check_cycle: the node a path came from; kNoNode when not visited
};

}  // namespace passnet::rewrite
