// One machine instruction, as far as deciding whether a kernel may hold it: how long it is, where it goes, and what it
// is called when kernels may not have it. Not a disassembler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace passnet::pass {

struct Instruction {
  enum class Flow { On, Direct, Indirect };
  size_t length = 0;  // 0: the bytes are no instruction that compilers make for kernels
  Flow flow = Flow::On;
  int64_t target = 0;           // Direct: from the start of this instruction on
  std::optional<int64_t> slot;  // Indirect: where the address is read from, likewise; none for a register
  const char* refused = nullptr;
};

/// The instructions that compute, move data and branch within a program, from 8086 to AVX-512: what is not in these
/// tables (system calls, clocks, control registers, transactions, whatever a later processor adds) is no instruction
/// here. Old disassemblers do not know AVX-512, so this reads the encodings, which have not changed.
Instruction decode_x86(std::string_view bytes);
/// The same for aarch64, where what does more than compute stands in two ranges of encodings.
Instruction decode_aarch64(std::string_view bytes);

/// The forbidden x86 instruction whose bytes stand somewhere in the code, at the start of an instruction or inside
/// another; empty when there is none.
std::string_view hidden_x86(std::string_view code);

}  // namespace passnet::pass
