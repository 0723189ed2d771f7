// A second decoder of x86-64, by hand-written opcode tables, which the fuzzer compares with the one that the product uses.
// It reads lengths more loosely: it does not know which opcodes of AVX-512 exist.
#pragma once

#include <string_view>

#include "pass/kernel/check/instruction.h"

namespace passnet::fuzz {

pass::Instruction decode_by_tables(std::string_view bytes);

}  // namespace passnet::fuzz
