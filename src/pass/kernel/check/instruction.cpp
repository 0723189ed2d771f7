// Zydis decodes; the allow-list is ours.
#include "pass/kernel/check/instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace passnet::pass {
namespace {

using Flow = Instruction::Flow;

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  const ZyanStatus made = ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  PASSNET_CHECK(ZYAN_SUCCESS(made), "Zydis has no decoder for x86-64");
  return decoder;
}

/// Extensions of which kernels may have every instruction but those of kRefused. AMX: what passnet/matrix_unit.h uses;
/// the cell clears the tiles after each launch.
bool computes(ZydisISAExt extension) {
  switch (extension) {
    case ZYDIS_ISA_EXT_ADOX_ADCX:
    case ZYDIS_ISA_EXT_AES:
    case ZYDIS_ISA_EXT_AMD3DNOW_PREFETCH:
    case ZYDIS_ISA_EXT_AMX_BF16:
    case ZYDIS_ISA_EXT_AMX_TILE:
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_AVX2GATHER:
    case ZYDIS_ISA_EXT_AVX512EVEX:
    case ZYDIS_ISA_EXT_AVX512VEX:
    case ZYDIS_ISA_EXT_AVXAES:
    case ZYDIS_ISA_EXT_AVX_VNNI:
    case ZYDIS_ISA_EXT_BMI1:
    case ZYDIS_ISA_EXT_BMI2:
    case ZYDIS_ISA_EXT_F16C:
    case ZYDIS_ISA_EXT_FMA:
    case ZYDIS_ISA_EXT_FMA4:
    case ZYDIS_ISA_EXT_GFNI:
    case ZYDIS_ISA_EXT_LZCNT:
    case ZYDIS_ISA_EXT_MMX:
    case ZYDIS_ISA_EXT_MOVBE:
    case ZYDIS_ISA_EXT_PAUSE:
    case ZYDIS_ISA_EXT_PCLMULQDQ:
    case ZYDIS_ISA_EXT_SHA:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_VAES:
    case ZYDIS_ISA_EXT_VPCLMULQDQ:
    case ZYDIS_ISA_EXT_X87: return true;
    default: return false;
  }
}

/// The same for categories of the base instructions, which hold system calls and input and output too.
bool computes(ZydisInstructionCategory category) {
  switch (category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_MISC:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_UNCOND_BR: return true;
    default: return false;
  }
}

/// Instructions of those extensions and categories that kernels may not have: they change how the processor computes, or
/// save and restore its whole state. fnstenv and fldenv are allowed: the compiler's own functions for half precision
/// raise exceptions by them (libgcc's __sfp_handle_exceptions), and the cell sets the state anew after each launch.
constexpr ZydisMnemonic kRefused[] = {
    ZYDIS_MNEMONIC_CLI,    ZYDIS_MNEMONIC_CPUID,     ZYDIS_MNEMONIC_ENTER,         ZYDIS_MNEMONIC_FDISI8087_NOP,
    ZYDIS_MNEMONIC_FLDCW,  ZYDIS_MNEMONIC_FNCLEX,    ZYDIS_MNEMONIC_FENI8087_NOP,  ZYDIS_MNEMONIC_FNINIT,
    ZYDIS_MNEMONIC_FNSAVE, ZYDIS_MNEMONIC_FRSTOR,    ZYDIS_MNEMONIC_FSETPM287_NOP, ZYDIS_MNEMONIC_FXRSTOR,
    ZYDIS_MNEMONIC_FXSAVE, ZYDIS_MNEMONIC_FXRSTOR64, ZYDIS_MNEMONIC_FXSAVE64,      ZYDIS_MNEMONIC_IRET,
    ZYDIS_MNEMONIC_IRETD,  ZYDIS_MNEMONIC_IRETQ,     ZYDIS_MNEMONIC_LDMXCSR,       ZYDIS_MNEMONIC_POPF,
    ZYDIS_MNEMONIC_POPFQ,  ZYDIS_MNEMONIC_PUSHF,     ZYDIS_MNEMONIC_PUSHFQ,        ZYDIS_MNEMONIC_STD,
    ZYDIS_MNEMONIC_STI,    ZYDIS_MNEMONIC_UD0,       ZYDIS_MNEMONIC_UD1,           ZYDIS_MNEMONIC_VLDMXCSR,
    ZYDIS_MNEMONIC_XLAT,
};

/// mov, push and pop of registers of the system: the opcodes of a map that equal `opcode` in the bits of `mask`.
struct SystemOperand {
  ZydisOpcodeMap map;
  int mask, opcode;
  const char* name;
};
constexpr SystemOperand kSystemOperands[] = {
    {ZYDIS_OPCODE_MAP_DEFAULT, 0xfd, 0x8c, "mov of a segment"},
    {ZYDIS_OPCODE_MAP_0F, 0xfd, 0x20, "mov of a control register"},
    {ZYDIS_OPCODE_MAP_0F, 0xfd, 0x21, "mov of a debug register"},
    {ZYDIS_OPCODE_MAP_0F, 0xf6, 0xa0, "push or pop of a segment"},
};

/// Instructions of other categories and extensions that compilers make: traps, the no-op of several bytes that pads code,
/// and the mark of a branch target.
bool fills_code(const ZydisDecodedInstruction& found) {
  return found.mnemonic == ZYDIS_MNEMONIC_INT3 || found.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
         (found.meta.category == ZYDIS_CATEGORY_WIDENOP && found.opcode == 0x1f);
}

bool has_prefix(const ZydisDecodedInstruction& found, ZyanU8 prefix) {
  const auto* const begin = std::begin(found.raw.prefixes);
  return std::any_of(begin, begin + found.raw.prefix_count, [&](const auto& each) { return each.value == prefix; });
}

/// A REX prefix means nothing before another prefix, and compilers never put it there.
bool has_ignored_rex(const ZydisDecodedInstruction& found) {
  const auto* const begin = std::begin(found.raw.prefixes);
  return std::any_of(begin, begin + found.raw.prefix_count, [](const auto& each) {
    return (each.value & 0xf0) == 0x40 && each.type == ZYDIS_PREFIX_TYPE_IGNORED;
  });
}

/// Returns: the name of an instruction that kernels may not have; nullptr for the others.
const char* refused_name(const ZydisDecodedInstruction& found) {
  const bool base = found.meta.isa_ext == ZYDIS_ISA_EXT_BASE || found.meta.isa_ext == ZYDIS_ISA_EXT_LONGMODE;
  const bool allowed = (base ? computes(found.meta.category) : computes(found.meta.isa_ext)) || fills_code(found);
  if (!allowed || std::ranges::find(kRefused, found.mnemonic) != std::end(kRefused))
    return ZydisMnemonicGetString(found.mnemonic);
  if (found.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
    if (found.meta.category == ZYDIS_CATEGORY_CALL) return "far call";
    return found.meta.category == ZYDIS_CATEGORY_RET ? "far return" : "far jump";
  }
  if (found.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
    for (const SystemOperand& each : kSystemOperands) {
      if (found.opcode_map == each.map && (found.opcode & each.mask) == each.opcode) return each.name;
    }
  }
  if (has_prefix(found, 0x64) || has_prefix(found, 0x65)) return "an access by segment fs or gs";
  if (found.attributes & (ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE)) return "an elided lock";
  return nullptr;
}

struct Pattern {
  std::string_view bytes, name;
};
using namespace std::string_view_literals;
/// What a jump into the middle of an instruction would be after. Where two bytes are not telling enough to refuse honest
/// code for, a kernel gains nothing by them.
constexpr Pattern kHidden[] = {
    {"\x0f\x05"sv, "syscall"},    {"\x0f\x34"sv, "sysenter"},  {"\xcd\x80"sv, "int 0x80"},
    {"\x0f\x31"sv, "rdtsc"},      {"\x0f\x33"sv, "rdpmc"},     {"\x0f\x01\xef"sv, "wrpkru"},
    {"\x0f\x01\xf9"sv, "rdtscp"}, {"\x0f\x01\xfd"sv, "rdpru"}, {"\x0f\x01\xd1"sv, "xsetbv"},
};

}  // namespace

Instruction decode_instruction(std::string_view bytes) {
  static const ZydisDecoder decoder = make_decoder();
  ZydisDecodedInstruction found;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(), &found))) return {};
  if (has_ignored_rex(found)) return {};
  Instruction out;
  out.length = found.length;
  out.refused = refused_name(found);
  if (out.refused != nullptr || found.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE) return out;
  // With 66 the processors of two makers disagree about the length.
  if (has_prefix(found, 0x66)) return {};
  if (found.raw.imm[0].is_relative) {
    out.flow = Flow::Direct;
    out.target = found.length + found.raw.imm[0].value.s;
  } else if (found.meta.category != ZYDIS_CATEGORY_RET) {
    out.flow = Flow::Indirect;
    const auto& operand = found.raw.modrm;
    if (operand.mod == 0 && operand.rm == 5 && found.address_width == 64)
      out.slot = found.length + found.raw.disp.value;
  }
  return out;
}

std::string_view hidden_instruction(std::string_view code) {
  for (const Pattern& pattern : kHidden) {
    if (code.find(pattern.bytes) != std::string_view::npos) return pattern.name;
  }
  return {};
}

}  // namespace passnet::pass
