// From an address in a compiled CPU kernel to a line of its source, by the object's DWARF 4 line table (what g++ writes
// for -g1 -gdwarf-4). The object was made from foreign text: every access is checked, and nonsense is "not known".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace passnet::pass {

struct KernelLine {
  uint32_t line = 0;   // of the kernel's source, from 1
  bool exact = false;  // false: the code there belongs to a function of passnet/kernel.h; this is the line before it
  bool operator==(const KernelLine&) const = default;
};

/// object: the bytes of the shared object; address: from its load address on. None when the address is not that of code
/// of the kernel, or when the object has no such table.
std::optional<KernelLine> find_kernel_line(std::string_view object, uint64_t address);

}  // namespace passnet::pass
