// Whole-number expressions that say where an element lies: sums and multiples of loop variables, and what remains of
// them when dimensions are split and merged. Equal expressions have equal ids.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "author/loops/size.h"

namespace passnet::author {

using IndexId = uint32_t;
using VariableId = uint32_t;
using ExprId = uint32_t;

struct Index {
  enum class Kind : uint8_t {
    Constant,   // value
    Variable,   // variable
    Add,        // a + b
    Subtract,   // a - b
    Scale,      // a * size
    Divide,     // a / size
    Remainder,  // a % size
    Size,       // size
    Element,    // of a tensor of integers: element
  };
  Kind kind = Kind::Constant;
  IndexId a = 0, b = 0;
  SizeId size = 0;
  int64_t value = 0;
  VariableId variable = 0;
  ExprId element = 0;
  auto operator<=>(const Index&) const = default;
};

/// A variable runs from 0 to its extent.
class IndexTable {
 public:
  explicit IndexTable(SizeTable& sizes) : sizes_(sizes) { constant(0); }

  VariableId new_variable(SizeId extent);
  SizeId extent(VariableId variable) const { return extents_[variable]; }

  IndexId zero() const { return 0; }
  IndexId constant(int64_t value);
  IndexId variable(VariableId variable);
  IndexId size(SizeId size);
  IndexId element(ExprId element);
  IndexId add(IndexId a, IndexId b);
  IndexId subtract(IndexId a, IndexId b);
  IndexId scale(IndexId a, SizeId by);
  IndexId divide(IndexId a, SizeId by);
  IndexId remainder(IndexId a, SizeId by);

  /// Returns the number of a place in a tensor of that shape, in row-major order; and the place of a number.
  IndexId linear(const std::vector<IndexId>& place, const std::vector<SizeId>& shape);
  std::vector<IndexId> place(IndexId linear, const std::vector<SizeId>& shape);
  /// The place in a tensor of shape `from` of what lies at `place` of its reshape to `to`. Dimensions that stay apart are
  /// not mixed. REQUIRES: as many elements.
  std::vector<IndexId> reshape(const std::vector<IndexId>& place, const std::vector<SizeId>& to,
                               const std::vector<SizeId>& from);

  /// The same with other places for variables. element: what stands for one in it.
  IndexId with(IndexId id, const std::map<VariableId, IndexId>& places, const std::function<ExprId(ExprId)>& element);

  /// Dimensions of two shapes that hold the same elements: the shortest runs of both, from the first on.
  struct Run {
    size_t first_to = 0, end_to = 0, first_from = 0, end_from = 0;
  };
  std::vector<Run> runs(const std::vector<SizeId>& to, const std::vector<SizeId>& from) const;

  const Index& at(IndexId id) const { return nodes_[id]; }
  SizeTable& sizes() const { return sizes_; }
  /// The elements of tensors in it.
  void elements_in(IndexId id, std::vector<ExprId>& found) const;
  void variables_in(IndexId id, std::set<VariableId>& found) const;

 private:
  IndexId intern(const Index& node);
  bool is_below(IndexId id, SizeId bound) const;
  bool equal_product(SizeId a, SizeId b, SizeId product) const;

  SizeTable& sizes_;
  std::vector<Index> nodes_;
  std::map<Index, IndexId> known_;
  std::vector<SizeId> extents_;
};

}  // namespace passnet::author
