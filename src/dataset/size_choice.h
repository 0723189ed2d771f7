// What the integers of one node may stand for, best guess first. Equal numbers are a hint only; the shapes at
// other sizes of the inputs decide. docs/dataset.md has the rules.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "dataset/size_slots.h"

namespace passnet::dataset {

/// The graph's shapes as captured, then at other sizes of its inputs.
using Probes = std::vector<ValueShapes>;
/// A size at each probe.
using Profile = std::vector<int64_t>;

/// The sizes that were seen in the values so far, by what they are as captured.
class SizePool {
 public:
  struct Seen {
    Profile profile;
    SizeExpression size;  // the most recent place
  };
  /// The sizes of a value whose shape is known at all probes. Sizes of 1 count as such on axis 0 only.
  void add(ir::NodeId id, const Probes& probes);
  /// Sizes that change between probes, the most recent last; each profile once.
  std::span<const Seen> changing(int64_t captured) const { return find(changing_, captured); }
  /// Products of two neighbouring ones.
  std::span<const Seen> areas(int64_t captured) const { return find(areas_, captured); }

 private:
  using Map = std::map<int64_t, std::vector<Seen>>;
  static std::span<const Seen> find(const Map& map, int64_t captured);
  static void put(Map& map, Seen seen);
  Map changing_, areas_;
};

/// Expressions for the slots of a node, in their order.
using Assignment = std::vector<SizeExpression>;

/// The best assignments, at most 12; each gives the slots' values as captured. The first operand's shape must
/// be known at all probes. required: by probe, what the slots are there; empty where that is not known. None
/// is left where the sizes fit nothing that was seen.
std::vector<Assignment> size_assignments(const ir::Graph& graph, ir::NodeId id,
                                         std::span<const SizeSlot> slots, const Probes& probes,
                                         const SizePool& pool,
                                         std::span<const std::vector<int64_t>> required);

}  // namespace passnet::dataset
