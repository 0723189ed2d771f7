#include "record/floor.h"

#include <algorithm>

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

}  // namespace passnet::record
