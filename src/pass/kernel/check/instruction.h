// One x86-64 machine instruction, as far as deciding whether a kernel may hold it: its length, its branch target, and its
// name when kernels may not have it. Not a disassembler.
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

/// Decodes the first instruction of `bytes`. Allowed are the extensions that compute, move data and branch within a
/// program, from 8086 to AVX-512, by an allow-list; any other instruction (system calls, clocks, control registers,
/// transactions, extensions of later processors) is refused or has no length.
Instruction decode_instruction(std::string_view bytes);

/// The forbidden instruction whose bytes stand somewhere in the code, at the start of an instruction or inside another;
/// empty when there is none.
std::string_view hidden_instruction(std::string_view code);

}  // namespace passnet::pass
