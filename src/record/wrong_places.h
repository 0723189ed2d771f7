// Where the wrong elements of a tensor lie, in the words of a person who debugs a kernel: "columns 120 to 127 of 128
// (the last 8)", "everywhere". A kernel that forgets the tail of a row, a tile or the last task shows it by this alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace passnet::record {

class WrongPlaces {
 public:
  explicit WrongPlaces(std::vector<int64_t> shape);

  /// flat: index of an element in row-major order. REQUIRES: ascending calls, 0 <= flat < number of elements.
  void add(int64_t flat);

  /// Adds those of another, of the same shape. REQUIRES: they come after these.
  void add(const WrongPlaces& later);

  int64_t count() const { return count_; }
  /// The first one added, in row-major order. REQUIRES: count() > 0.
  int64_t first() const { return first_; }
  /// Returns: the index of the first one added, by dimension; empty when there is none, and for a scalar.
  std::vector<int64_t> first_index() const;

  /// The last two dimensions are rows and columns, those before them go by number. One of, in this order:
  /// "" (none), "everywhere"; whole rows, columns or blocks ("rows 3 to 5 of 16, columns 0 to 31 of 64 (the first
  /// 32)"); a stretch in row-major order ("elements 1920 to 1999 of 2000 in order (the last 80)"); either with "(n of
  /// the m elements there)" when at least half of it is wrong; "scattered", "scattered within rows 10 to 19 of 50"
  /// where they lie within half of a dimension.
  std::string describe() const;

 private:
  std::vector<int64_t> shape_;
  std::vector<std::vector<bool>> hit_;  // by dimension and coordinate
  int64_t total_ = 1, count_ = 0, first_ = 0, last_ = 0;
};

}  // namespace passnet::record
