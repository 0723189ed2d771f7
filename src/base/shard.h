// A part of a list of named items, for several machines that share the list. The hash of its name puts an item into one
// part, so an item stays in its part when the list grows.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet {

struct Shard {
  int index = 1, count = 1;  // index: 1 to count

  /// Tells whether the item of this name is in the part; each name is in one part of `count`.
  bool holds(std::string_view name) const;
  bool is_whole() const { return count == 1; }
  bool operator==(const Shard&) const = default;
};

/// "2/8"
std::string to_string(const Shard& shard);

/// The value of an environment variable; empty: not set.
using Environment = std::function<std::string(const char* name)>;

/// text: "2/8"; "auto", the place of this task in its array of Slurm; "auto/8", that or JOB_COMPLETION_INDEX of a
/// Kubernetes job of 8 completions.
/// Errors: BadInput: another text, an index outside of 1 to the count, auto outside of an array.
Result<Shard> parse_shard(std::string_view text, const Environment& environment);

}  // namespace passnet
