// Reads a compiled kernel without loading it, and refuses one that could do more than compute: own state,
// start-up code, calls out of an allow-list of pure functions. A small bounds-checked reader of ELF64, little
// endian.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::pass {

/// object: the bytes of the shared object; kernel: the function it was built for; scan_code: reads its machine code
/// too, see code_check.h.
/// Returns the text of its .passnet.parameters section: "const float*,float*,int64_t".
/// Errors: BadPass naming the symbol or section and what to do; Io when the bytes are no object of this
/// machine.
Result<std::string> check_object(std::string_view object, const std::string& kernel, bool scan_code = true);

}  // namespace passnet::pass
