#include "record/wrong_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/row_major.h"

namespace passnet::record {

namespace {

constexpr size_t kMostListed = 4;

/// The coordinates of one dimension that hold a wrong element.
struct Hits {
  std::vector<int64_t> at;  // ascending, not empty
  int64_t size = 0;         // of the dimension
  int64_t step = 0;         // between neighbours; 0: not the same everywhere
  bool all() const { return static_cast<int64_t>(at.size()) == size; }
  /// A few words say exactly which.
  bool regular() const { return step > 0 || at.size() <= kMostListed; }
};

Hits hits_of(const std::vector<bool>& hit) {
  Hits hits;
  hits.size = static_cast<int64_t>(hit.size());
  for (int64_t i = 0; i < hits.size; ++i) {
    if (hit[static_cast<size_t>(i)]) hits.at.push_back(i);
  }
  hits.step = hits.at.size() > 1 ? hits.at[1] - hits.at[0] : 1;
  for (size_t i = 1; i < hits.at.size(); ++i) {
    if (hits.at[i] - hits.at[i - 1] != hits.step) hits.step = 0;
  }
  return hits;
}

/// " (the last 3)", " (the first)", or nothing when the stretch touches neither end.
std::string which_end(int64_t first, int64_t last, int64_t size) {
  if (first != 0 && last != size - 1) return "";
  const char* const end = last == size - 1 ? "last" : "first";
  return first == last ? fmt::format(" (the {})", end) : fmt::format(" (the {} {})", end, last - first + 1);
}

std::string describe_hits(const Hits& hits, size_t dimension, size_t dimensions) {
  const bool column = dimension + 1 == dimensions, row = dimension + 2 == dimensions;
  std::string one = fmt::format("dimension {} at", dimension), several = one;
  if (column || row) {
    one = dimensions == 1 ? "element" : column ? "column" : "row";
    several = one + "s";
  }
  const int64_t first = hits.at.front(), last = hits.at.back();
  if (hits.at.size() == 1)
    return fmt::format("{} {} of {}{}", one, first, hits.size, which_end(first, last, hits.size));
  if (hits.step == 1)
    return fmt::format("{} {} to {} of {}{}", several, first, last, hits.size, which_end(first, last, hits.size));
  if (hits.at.size() <= 2) return fmt::format("{} {} of {}", several, fmt::join(hits.at, " and "), hits.size);
  if (hits.step > 1)
    return fmt::format("{} {}, {} … {} of {} (every {}{})", several, first, hits.at[1], last, hits.size, hits.step,
                       hits.step == 2   ? "nd"
                       : hits.step == 3 ? "rd"
                                        : "th");
  if (hits.regular()) return fmt::format("{} {} of {}", several, fmt::join(hits.at, ", "), hits.size);
  return fmt::format("{} {} to {} of {}", several, first, last, hits.size);  // what bounds them
}

}  // namespace

WrongPlaces::WrongPlaces(std::vector<int64_t> shape) : shape_(std::move(shape)) {
  for (const int64_t size : shape_) {
    hit_.emplace_back(static_cast<size_t>(size), false);
    total_ *= size;
  }
}

void WrongPlaces::add(int64_t flat) {
  if (count_++ == 0) first_ = flat;
  last_ = flat;
  for (size_t d = shape_.size(); d-- > 0; flat /= shape_[d]) hit_[d][static_cast<size_t>(flat % shape_[d])] = true;
}

void WrongPlaces::add(const WrongPlaces& later) {
  if (later.count_ == 0) return;
  if (count_ == 0) first_ = later.first_;
  last_ = later.last_;
  count_ += later.count_;
  for (size_t d = 0; d < hit_.size(); ++d)
    std::transform(hit_[d].begin(), hit_[d].end(), later.hit_[d].begin(), hit_[d].begin(), std::logical_or<>());
}

std::vector<int64_t> WrongPlaces::first_index() const {
  return count_ == 0 ? std::vector<int64_t>{} : index_of(first_, shape_);
}

std::string WrongPlaces::describe() const {
  if (count_ == 0) return "";
  if (count_ == total_) return "everywhere";
  std::string block, bounds;  // by dimension: where they lie; where that is within half of the dimension
  int64_t block_count = 1;
  bool regular = true;
  for (size_t d = 0; d < shape_.size(); ++d) {
    const Hits hits = hits_of(hit_[d]);
    block_count *= static_cast<int64_t>(hits.at.size());
    if (hits.all()) continue;
    regular = regular && hits.regular();
    const std::string text = describe_hits(hits, d, shape_.size());
    block += (block.empty() ? "" : ", ") + text;
    if (2 * (hits.at.back() - hits.at.front() + 1) <= hits.size) bounds += (bounds.empty() ? "" : ", ") + text;
  }
  const int64_t stretch = last_ - first_ + 1;
  const std::string in_order =
      fmt::format("elements {} to {} of {} in order{}", first_, last_, total_, which_end(first_, last_, total_));
  if (count_ == block_count && regular) return block;
  if (count_ == stretch) return in_order;
  if (regular && !block.empty() && 2 * count_ >= block_count)
    return fmt::format("{} ({} of the {} elements there)", block, count_, block_count);
  if (2 * count_ >= stretch && 2 * stretch <= total_)
    return fmt::format("{} ({} of the {} elements there)", in_order, count_, stretch);
  return bounds.empty() ? "scattered" : "scattered within " + bounds;
}

}  // namespace passnet::record
