// Finds accesses that move to the neighbour with each step of a loop, where a thread of a GPU takes a run of as many
// steps as it has floats in a pack. Internal to author/text.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "author/define/definitions.h"
#include "author/fuse/access.h"

namespace passnet::author {

/// Rows, and pieces of them, should be multiples of this where neighbours are moved together along them: the runs of
/// all else become as short.
constexpr int64_t kLeastPack = 4;

class Neighbours {
 public:
  /// Steps of `lane`, of which runs begin at multiples of their length; loops: variables of all loops around it, and itself.
  Neighbours(Definitions& definitions, VariableId lane, std::set<VariableId> loops)
      : definitions_(definitions), lane_(lane), loops_(std::move(loops)) {}

  /// Returns numbers that a run's length must divide so that it lies in one piece and begins at a multiple of it;
  /// nullopt: it does not.
  std::optional<std::vector<SizeId>> steps(const Access& access);
  /// Tells whether it is one element for all of a run, as runs lie in pieces of which each has one.
  bool stays(const Access& access);

 private:
  /// How an index changes along a run.
  enum class Move : uint8_t { None, ByOne };

  std::optional<Move> move_of(IndexId id);
  bool aligned(IndexId id);
  bool is_still(IndexId id) const;
  bool are_long(const std::vector<SizeId>& steps) const;

  Definitions& definitions_;
  VariableId lane_;
  std::set<VariableId> loops_;
  std::vector<SizeId> steps_;
};

}  // namespace passnet::author
