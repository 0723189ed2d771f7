// Flags of a record as one number of the store. Internal to store/.
#pragma once

#include <cstdint>

#include "record/score/compare.h"

namespace passnet::store {

inline int64_t flags_of(const record::ComparedRecord& record) {
  return int64_t{record.out} | int64_t{record.disturbed} << 1 | int64_t{record.below_floor} << 2 |
         int64_t{record.uneven} << 3;
}

inline void set_flags(record::ComparedRecord& record, int64_t flags) {
  record.out = (flags & 1) != 0;
  record.disturbed = (flags & 2) != 0;
  record.below_floor = (flags & 4) != 0;
  record.uneven = (flags & 8) != 0;
}

}  // namespace passnet::store
