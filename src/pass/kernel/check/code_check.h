// Reads the machine code of a compiled CPU kernel, and refuses one that holds more than a compiler makes of arithmetic:
// system calls, clocks, control registers, data between instructions, jumps into the middle of one. The source filter
// stands before it; behind it stands the process that kernels run in, as code can still be reached by a changed return
// address.
#pragma once

#include <string>

#include "base/result.h"
#include "pass/kernel/check/elf_object.h"

namespace passnet::pass {

/// Errors: BadPass naming the instruction, the function it stands in, and what to do; Io when sections and segments
/// disagree about what is code.
Result<void> check_code(ElfObject& object, const std::string& kernel);

}  // namespace passnet::pass
