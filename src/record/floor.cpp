#include "record/floor.h"

#include <algorithm>
#include <array>

namespace passnet::record {

Floor floor_of(int64_t bytes, const std::vector<CopySpeed>& copies, double reference_us) {
  Floor floor{bytes, 0, 0};
  int64_t largest = 0;
  for (const CopySpeed& copy : copies) largest = std::max(largest, copy.bytes);
  for (const CopySpeed& copy : copies) {
    if (copy.bytes >= std::min(bytes / 4, largest)) floor.gb_per_s = std::max(floor.gb_per_s, copy.gb_per_s);
  }
  if (floor.gb_per_s <= 0) return floor;
  const double copied_us = static_cast<double>(bytes) / (floor.gb_per_s * 1e3);
  floor.us = std::min(kFloorShare * copied_us, kFloorOfReference * reference_us);
  return floor;
}

double product_speed(std::string_view dtype, const std::vector<ProductSpeed>& products) {
  // Each holds the values of those before it, but that bfloat16 and float16 share a place.
  static constexpr auto kWider = std::to_array<std::string_view>({"bfloat16", "float16", kTf32, "float32", "float64"});
  const auto* from = std::ranges::find(kWider, dtype);
  double fastest = 0;
  for (const ProductSpeed& product : products) {
    const auto* of = std::ranges::find(kWider, product.dtype);
    const bool holds = product.dtype == dtype || (of > from && of != std::end(kWider) && product.dtype != "float16");
    if (holds) fastest = std::max(fastest, product.gflop_per_s);
  }
  return fastest;
}

const char* to_string(Bound bound) { return bound == Bound::Memory ? "memory" : "arithmetic"; }

std::optional<Limit> limit_of(const Floor& floor) {
  if (floor.gb_per_s <= 0 || !floor.arithmetic) return std::nullopt;
  const double moving_us = static_cast<double>(floor.bytes) / (1e3 * floor.gb_per_s);
  double computing_us = 0;
  for (const Arithmetic& one : *floor.arithmetic) {
    if (one.gflop_per_s <= 0) return std::nullopt;
    computing_us += one.operations / (1e3 * one.gflop_per_s);
  }
  return computing_us > moving_us ? Limit{computing_us, Bound::Arithmetic} : Limit{moving_us, Bound::Memory};
}

}  // namespace passnet::record
