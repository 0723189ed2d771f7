// Text from compilers, kernels and file names may hold any bytes; what we write is UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace passnet::record {

/// Returns: `text` with every byte sequence that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace passnet::record
