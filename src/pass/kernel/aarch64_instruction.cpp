// Arm's architecture reference manual, C4.1: branches, exceptions and system instructions; all else computes.
#include <cstring>

#include "pass/kernel/instruction.h"

namespace passnet::pass {
namespace {

using Flow = Instruction::Flow;

/// The signed number of `bits` bits at `low`, in instructions of four bytes.
int64_t distance(uint32_t word, int low, int bits) {
  const auto shifted = static_cast<int32_t>(word << (32 - low - bits));
  return int64_t{shifted >> (32 - bits)} * 4;
}

/// Returns: the name of a system instruction that kernels may not have; nullptr for the harmless ones.
const char* system_name(uint32_t word) {
  if ((word & 0xfffff01f) == 0xd503201f) {  // hints: nop, pointer authentication, branch targets
    const uint32_t hint = word >> 5 & 0x7f;
    return hint == 0 || (hint >= 24 && hint <= 31) || (hint >= 32 && hint <= 38) ? nullptr : "wfe, wfi or the like";
  }
  if ((word & 0xfffff0ff) == 0xd50330bf || (word & 0xfffff0ff) == 0xd503305f) return nullptr;  // dmb, clrex
  switch (word & 0xffffffe0) {
    case 0xd53b4400:  // mrs of fpcr, fpsr, nzcv; msr of nzcv
    case 0xd53b4420:
    case 0xd53b4200:
    case 0xd51b4200: return nullptr;
    case 0xd51b4400: return "msr fpcr";
    case 0xd53be040:
    case 0xd53be020: return "mrs of a clock";
    case 0xd53bd040: return "mrs tpidr_el0";
    default: return "a system instruction";
  }
}

}  // namespace

Instruction decode_aarch64(std::string_view bytes) {
  if (bytes.size() < 4) return {};
  uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  Instruction out;
  out.length = 4;
  const auto direct = [&](int low, int bits) {
    out.flow = Flow::Direct;
    out.target = distance(word, low, bits);
  };
  if ((word & 0xffff0000) == 0) return {};  // udf: data
  if ((word & 0xff000000) == 0xd4000000) {
    if ((word & 0xffe0001f) != 0xd4200000) out.refused = (word & 0xffe0001f) == 0xd4000001 ? "svc" : "an exception";
  } else if ((word & 0xffc00000) == 0xd5000000) {
    out.refused = system_name(word);
  } else if ((word & 0x7c000000) == 0x14000000) {
    direct(0, 26);
  } else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
    direct(5, 19);
  } else if ((word & 0x7e000000) == 0x36000000) {
    direct(5, 14);
  } else if ((word & 0xfe000000) == 0xd6000000) {
    const uint32_t kind = word >> 21 & 0xf;
    if (kind == 4 || kind == 5) out.refused = "eret or drps";
    if (kind != 2) out.flow = Flow::Indirect;  // br, blr; ret is no call of a chosen place
  }
  return out;
}

}  // namespace passnet::pass
