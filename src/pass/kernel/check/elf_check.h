// Reads a compiled kernel without loading it, and refuses one that could do more than compute: own state,
// start-up code, calls out of an allow-list of pure functions. A small bounds-checked reader of ELF64, little
// endian.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::pass {

/// Which checks are made; all but to show what the other layers hold.
struct ObjectChecks {
  bool parts = true;  // state, start-up code, relocations, symbols
  bool code = true;   // its machine code, see code_check.h
};

/// Prefix of the function in a CPU kernel's object; the kernel's name follows (include/passnet/abi.h).
inline constexpr std::string_view kRunPrefix = "passnet_run_";

/// object: the bytes of the shared object; kernel: the function it was built for.
/// Returns the text of its .passnet.parameters section: "const float*,float*,int64_t".
/// Errors: BadPass naming the symbol or section and what to do; Io when the bytes are no object of this
/// machine.
Result<std::string> check_object(std::string_view object, const std::string& kernel, ObjectChecks checks = {});

}  // namespace passnet::pass
