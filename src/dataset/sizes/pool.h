// The sizes that a graph's values have when its inputs have several sizes, and where each was seen.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/size_expression.h"

namespace passnet::dataset {

/// The shapes of all values: as captured, then once per choice of other sizes for the inputs.
using Probes = std::vector<analysis::ValueShapes>;
/// One size, by probe.
using Profile = std::vector<int64_t>;

/// Returns: the value of the expression at each probe; nullopt when it is not known at one of them.
std::optional<Profile> profile_of(const analysis::SizeExpression& size, const Probes& probes);
/// Returns: whether the size differs between probes.
bool changes(const Profile& profile);

/// The sizes seen in the values so far, to be looked up by their captured value.
class SizePool {
 public:
  struct Seen {
    Profile profile;
    analysis::SizeExpression size;  // the most recent place
  };
  /// Adds the sizes of a value; nothing when its shape is not known at all probes. A captured size of 1 is added on
  /// axis 0 only.
  void add(ir::NodeId id, const Probes& probes);
  /// Returns: the sizes that differ between probes and are `captured` as captured, the most recent last; each profile
  ///          once.
  std::span<const Seen> changing(int64_t captured) const { return find(changing_, captured); }
  /// Returns: the same for products of two neighbouring sizes of a value.
  std::span<const Seen> areas(int64_t captured) const { return find(areas_, captured); }

 private:
  using Map = std::map<int64_t, std::vector<Seen>>;
  static std::span<const Seen> find(const Map& map, int64_t captured);
  static void put(Map& map, Seen seen);
  Map changing_, areas_;
};

}  // namespace passnet::dataset
