// The sizes of a graph's values at several sizes of its inputs, and where they were seen.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/size_expression.h"

namespace passnet::dataset {

/// The graph's shapes as captured, then at other sizes of its inputs.
using Probes = std::vector<analysis::ValueShapes>;
/// A size at each probe.
using Profile = std::vector<int64_t>;

/// What the expression is at each probe; nullopt where it is not known at one of them.
std::optional<Profile> profile_of(const analysis::SizeExpression& size, const Probes& probes);
/// The size is not the same at all probes.
bool changes(const Profile& profile);

/// The sizes that were seen in the values so far, by what they are as captured.
class SizePool {
 public:
  struct Seen {
    Profile profile;
    analysis::SizeExpression size;  // the most recent place
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

}  // namespace passnet::dataset
