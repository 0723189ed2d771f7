// A range of a graph's body, as all of dataset/ counts nodes.
#pragma once

#include <compare>
#include <cstddef>

namespace passnet::analysis {

/// Nodes [start, end) of the body: neither placeholders nor the output count.
struct Range {
  size_t start = 0, end = 0;
  size_t size() const { return end - start; }
  auto operator<=>(const Range&) const = default;
};

}  // namespace passnet::analysis
