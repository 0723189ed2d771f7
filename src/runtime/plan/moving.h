// Operators that only move what they are given: their results lie in the first argument's memory, and no element is read.
// Launches that stand in line need not have run before them.
#pragma once

#include <cstdint>
#include <string_view>

namespace passnet::runtime {

enum class Moving : uint8_t {
  Never,           // it reads or writes elements, or may
  Always,          // its results are views
  WhenContiguous,  // so they are where its first argument is contiguous; else it may copy
};

/// name: of the overload's operator, "aten::permute". reorders: it is asked for a memory format.
Moving moving_of(std::string_view name, bool reorders);

}  // namespace passnet::runtime
