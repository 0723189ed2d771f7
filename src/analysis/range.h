// A range of a graph's body. Source: docs/dataset-format.md, "How nodes are counted and named".
#pragma once

#include <compare>
#include <cstddef>

namespace passnet::analysis {

/// Nodes [start, end) of the body: placeholders and the output are not counted.
struct Range {
  size_t start = 0, end = 0;
  size_t size() const { return end - start; }
  auto operator<=>(const Range&) const = default;
};

}  // namespace passnet::analysis
