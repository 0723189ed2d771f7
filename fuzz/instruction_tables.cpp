// Intel's manual, volume 2, appendix A, and AMD's volume 3, appendix A: the opcode maps.
#include "instruction_tables.h"

#include <array>
#include <cstring>

namespace passnet::fuzz {
namespace {

using pass::Instruction;
using Flow = Instruction::Flow;

// What follows an opcode, one letter for each; ' ' is no instruction of a kernel, '!' one with a name in kNames.
//   .  nothing      m  ModRM         b  8 bits       z  32 bits, or 16     i  ModRM and 8 bits   I  ModRM and 32, or 16
//   w  16 bits      q  an address   v  64, 32 or 16 r  8 bits: a branch   R  32 bits: a branch
// further ones that depend on ModRM are letters of their own, see `group`.
using Map = std::array<const char*, 16>;
constexpr Map kOneByte = {
    //123456789abcdef
    "mmmmbz  mmmmbz  ",  // 0
    "mmmmbz  mmmmbz  ",  // 1
    "mmmmbz  mmmmbz  ",  // 2
    "mmmmbz  mmmmbz  ",  // 3
    "                ",  // 4: REX
    "................",  // 5
    "   m    zIbi!!!!",  // 6
    "rrrrrrrrrrrrrrrr",  // 7
    "iI immmmmmmm!m!P",  // 8
    "..........!.!!..",  // 9
    "qqqq....bz......",  // a
    "bbbbbbbbvvvvvvvv",  // b
    "iiw.  GH .!!.! !",  // c: int3 pads code, and ends like ud2
    "mmmm    XXXXXXXX",  // d
    "rrrr!!!!RR r!!!!",  // e
    " !  !.BZ..!!.!FJ",  // f
};
constexpr Map kTwoBytes = {
    "!!!! !!!!! . m  ",  // 0
    "mmmmmmmmm     Em",  // 1
    "!!!!    mmmmmmmm",  // 2
    "!!!!!! !        ",  // 3
    "mmmmmmmmmmmmmmmm",  // 4
    "mmmmmmmmmmmmmmmm",  // 5
    "mmmmmmmmmmmmmmmm",  // 6
    "iiiimmm.    mmmm",  // 7
    "RRRRRRRRRRRRRRRR",  // 8
    "mmmmmmmmmmmmmmmm",  // 9
    "!!!mim  !!!mimAm",  // a
    "mm!m!!mmO immmmm",  // b
    "mmimiiiC........",  // c
    "mmmmmmmmmmmmmmmm",  // d
    "mmmmmmmmmmmmmmmm",  // e
    "mmmmmmmmmmmmmmm ",  // f
};

struct Name {
  int map;  // 1 or 2 bytes
  int opcode;
  const char* name;
};
constexpr Name kNames[] = {
    {1, 0x6c, "ins"},
    {1, 0x6d, "ins"},
    {1, 0x6e, "outs"},
    {1, 0x6f, "outs"},
    {1, 0x8c, "mov of a segment"},
    {1, 0x8e, "mov to a segment"},
    {1, 0x9a, "far call"},
    {1, 0x9c, "pushf"},
    {1, 0x9d, "popf"},
    {1, 0xca, "far return"},
    {1, 0xcb, "far return"},

    {1, 0xcd, "int"},
    {1, 0xcf, "iret"},
    {1, 0xe4, "in"},
    {1, 0xe5, "in"},
    {1, 0xe6, "out"},
    {1, 0xe7, "out"},
    {1, 0xec, "in"},
    {1, 0xed, "in"},
    {1, 0xee, "out"},
    {1, 0xef, "out"},
    {1, 0xf1, "int1"},
    {1, 0xf4, "hlt"},
    {1, 0xfa, "cli"},
    {1, 0xfb, "sti"},
    {1, 0xfd, "std"},
    {2, 0x00, "sldt or the like"},
    {2, 0x02, "lar"},
    {2, 0x03, "lsl"},
    {2, 0x05, "syscall"},
    {2, 0x06, "clts"},
    {2, 0x07, "sysret"},
    {2, 0x08, "invd"},
    {2, 0x09, "wbinvd"},
    {2, 0x20, "mov of a control register"},
    {2, 0x21, "mov of a debug register"},
    {2, 0x22, "mov to a control register"},
    {2, 0x23, "mov to a debug register"},
    {2, 0x30, "wrmsr"},
    {2, 0x31, "rdtsc"},
    {2, 0x32, "rdmsr"},
    {2, 0x33, "rdpmc"},
    {2, 0x34, "sysenter"},
    {2, 0x35, "sysexit"},
    {2, 0x37, "getsec"},
    {2, 0xa0, "push of a segment"},
    {2, 0xa1, "pop of a segment"},
    {2, 0xa2, "cpuid"},
    {2, 0xa8, "push of a segment"},
    {2, 0xa9, "pop of a segment"},
    {2, 0xaa, "rsm"},
    {2, 0xb2, "lss"},
    {2, 0xb4, "lfs"},
    {2, 0xb5, "lgs"},
};

/// Group 7 (0F 01): the second byte names the instruction when it is no memory operand.
const char* system_name(uint8_t modrm) {
  switch (modrm) {
    case 0xc8: return "monitor";
    case 0xc9: return "mwait";
    case 0xd0: return "xgetbv";
    case 0xd1: return "xsetbv";
    case 0xd5: return "xend";
    case 0xd6: return "xtest";
    case 0xe8: return "serialize";
    case 0xee: return "rdpkru";
    case 0xef: return "wrpkru";
    case 0xf8: return "swapgs";
    case 0xf9: return "rdtscp";
    case 0xfa: return "monitorx";
    case 0xfb: return "mwaitx";
    case 0xfc: return "clzero";
    case 0xfd: return "rdpru";
    default: return "a system instruction (0f 01)";
  }
}

/// Group 15 (0F AE), by the mandatory prefix, the register field and whether the operand is memory.
const char* group_15_name(uint8_t prefix, int field, bool memory) {
  if (memory) {
    constexpr const char* kPlain[] = {"fxsave", "fxrstor", "ldmxcsr",  nullptr,
                                      "xsave",  "xrstor",  "xsaveopt", "clflush"};
    if (prefix == 0) return kPlain[field];
    if (prefix == 0x66) return field == 6 ? "clwb" : field == 7 ? "clflushopt" : "an instruction of 0f ae";
    return field == 4 ? "ptwrite" : "an instruction of 0f ae";
  }
  if (prefix == 0) return field >= 5 ? nullptr : "an instruction of 0f ae";  // lfence, mfence, sfence
  if (prefix == 0x66) return field == 6 ? "tpause" : "an instruction of 0f ae";
  if (prefix == 0xf2) return field == 6 ? "umwait" : "an instruction of 0f ae";
  constexpr const char* kRepeated[] = {"rdfsbase", "rdgsbase", "wrfsbase", "wrgsbase",
                                       "ptwrite",  "incssp",   "umonitor", "an instruction of 0f ae"};
  return kRepeated[field];
}

/// Group 9 (0F C7): compare and exchange computes, the others do not.
const char* group_9_name(uint8_t prefix, int field, bool memory) {
  if (memory) {
    constexpr const char* kMemory[] = {"0f c7", nullptr, "0f c7", "xrstors", "xsavec", "xsaves", "vmptrld", "vmptrst"};
    return kMemory[field];
  }
  if (field == 6) return prefix == 0xf3 ? "senduipi" : "rdrand";
  return field == 7 ? (prefix == 0xf3 ? "rdpid" : "rdseed") : "0f c7";
}

/// x87: what changes its control word. fnstenv and fldenv are let through: the compiler's own functions for half precision
/// raise exceptions by them (libgcc's __sfp_handle_exceptions), and the cell sets the state anew after each launch.
const char* x87_name(uint8_t opcode, uint8_t modrm) {
  const int field = modrm >> 3 & 7;
  const bool memory = modrm < 0xc0;
  if (opcode == 0xd9 && memory && field == 5) return "fldcw";
  if (opcode == 0xdd && memory && field == 4) return "frstor";
  if (opcode == 0xdd && memory && field == 6) return "fnsave";
  if (opcode == 0xdb && !memory && field == 4) return modrm == 0xe2 ? "fnclex" : "fninit";
  return nullptr;
}

/// Reads one instruction; any access behind the last byte makes it none.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes.substr(0, 15)) {}

  Instruction decode() {
    prefixes();
    const uint8_t opcode = next();
    if ((opcode == 0xc5 || opcode == 0xc4 || opcode == 0x62) && !rex_ && mandatory_ == 0 && !wide_ && !locked_) {
      vector(opcode);
    } else if (opcode == 0x0f) {
      two_bytes();
    } else {
      const char kind = kOneByte[opcode >> 4][opcode & 15];
      if (kind == '!') refuse(name_of(1, opcode));
      operands(kind, opcode);
    }
    if (failed_) return {};
    if (segment_ && !result_.refused) refuse("an access by segment fs or gs");
    result_.length = at_;
    return result_;
  }

 private:
  uint8_t next() {
    if (at_ >= bytes_.size()) return failed_ = true, 0;
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  void skip(size_t count) {
    at_ += count;
    if (at_ > bytes_.size()) failed_ = true;
  }
  int64_t number(size_t size) {
    const size_t start = at_;
    skip(size);
    if (failed_) return 0;
    int32_t value = 0;
    std::memcpy(&value, bytes_.data() + start, size);
    return size == 1 ? static_cast<int8_t>(value) : value;
  }
  void refuse(const char* name) { result_.refused = name; }

  static const char* name_of(int map, uint8_t opcode) {
    for (const Name& known : kNames) {
      if (known.map == map && known.opcode == opcode) return known.name;
    }
    return "a system instruction";
  }

  void prefixes() {
    for (;; ++at_) {
      const uint8_t byte = at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_]) : 0;
      switch (byte) {
        case 0x66: wide_ = true; continue;
        case 0xf2:
        case 0xf3: mandatory_ = byte; continue;
        case 0xf0: locked_ = true; continue;
        case 0x64:
        case 0x65: segment_ = true; continue;
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x26: continue;
        case 0x67: short_address_ = true; continue;
        default: break;
      }
      if ((byte & 0xf0) == 0x40) {
        rex_ = byte;
        ++at_;
      }
      return;
    }
  }
  uint8_t prefix() const { return mandatory_ ? mandatory_ : wide_ ? 0x66 : 0; }
  size_t immediate() const { return wide_ && !(rex_ & 8) ? 2 : 4; }

  void modrm() {
    modrm_ = next();
    const int mode = modrm_ >> 6, register_or_memory = modrm_ & 7;
    if (mode == 3) return;
    memory_ = true;
    size_t displacement = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    if (register_or_memory == 4) {
      if ((next() & 7) == 5 && mode == 0) displacement = 4;
    } else if (register_or_memory == 5 && mode == 0) {
      relative_ = number(4);
      return;
    }
    skip(displacement);
  }
  int field() const { return modrm_ >> 3 & 7; }

  void branch(size_t size) {
    // With 66 the processors of two makers disagree about the length.
    if (wide_) failed_ = true;
    const int64_t distance = number(size);
    result_.flow = Flow::Direct;
    result_.target = static_cast<int64_t>(at_) + distance;
  }

  void operands(char kind, uint8_t opcode) {
    switch (kind) {
      case '!':  // how long it is does not matter any more
      case '.': return;
      case 'm': return modrm();
      case 'b': return skip(1);
      case 'w': return skip(2);
      case 'z': return skip(immediate());
      case 'v': return skip(rex_ & 8 ? 8 : immediate());
      case 'q': return skip(short_address_ ? 4 : 8);
      case 'r': return branch(1);
      case 'R': return branch(4);
      default: modrm();
    }
    switch (kind) {
      case 'i': return skip(1);
      case 'I': return skip(immediate());
      case 'G':  // mov, and xabort
      case 'H':  // mov, and xbegin
        if (field() != 0) refuse(kind == 'G' ? "xabort" : "xbegin");
        return skip(kind == 'G' ? 1 : immediate());
      case 'B': return field() < 2 ? skip(1) : void();
      case 'Z': return field() < 2 ? skip(immediate()) : void();
      case 'P': failed_ |= field() != 0; return;  // pop; AMD's XOP otherwise
      case 'F': failed_ |= field() > 1; return;
      case 'J': return group_5();
      case 'X': return refuse(x87_name(opcode, modrm_));
      case 'A': return refuse(group_15_name(prefix(), field(), memory_));
      case 'C': return refuse(group_9_name(prefix(), field(), memory_));
      case 'O': failed_ |= mandatory_ != 0xf3; return;  // popcnt
      case 'E':                                         // endbr64 and hints; shadow stacks otherwise
        if (mandatory_ == 0xf3 && modrm_ != 0xfa) refuse("rdssp");
        return;
      default: failed_ = true; return;
    }
  }

  void group_5() {
    switch (field()) {
      case 2:
      case 4:
        result_.flow = Flow::Indirect;
        if (relative_) result_.slot = static_cast<int64_t>(at_) + *relative_;
        return;
      case 3: return refuse("far call");
      case 5: return refuse("far jump");
      case 7: failed_ = true; return;
      default: return;
    }
  }

  void two_bytes() {
    const uint8_t opcode = next();
    if (opcode == 0x38) return three_bytes_38();
    if (opcode == 0x3a) return three_bytes_3a();
    const char kind = kTwoBytes[opcode >> 4][opcode & 15];
    if (kind == '!') refuse(opcode == 0x01 ? system_name(next()) : name_of(2, opcode));
    operands(kind, opcode);
  }

  void three_bytes_38() {
    const uint8_t opcode = next();
    modrm();
    const bool key_locker = mandatory_ == 0xf3 && opcode >= 0xd8 && opcode <= 0xdf;
    const bool shadow_stack = opcode == 0xf5 || (opcode == 0xf6 && prefix() == 0);
    const bool computes =
        opcode <= 0x41 || (opcode >= 0xc8 && opcode <= 0xdf) || opcode == 0xf0 || opcode == 0xf1 || opcode == 0xf6;
    if (!computes || key_locker || shadow_stack) failed_ = true;
  }

  void three_bytes_3a() {
    const uint8_t opcode = next();
    modrm();
    skip(1);
    if (opcode >= 0xf0) failed_ = true;
  }

  /// VEX and EVEX: vector arithmetic, and what passnet/matrix_unit.h uses of AMX, whose tiles the cell clears after each launch.
  void vector(uint8_t first) {
    int map = 1;
    if (first == 0x62) {
      const uint8_t p0 = next(), p1 = next();
      skip(1);
      map = p0 & 7;
      if ((p0 & 8) != 0 || (p1 & 4) == 0) failed_ = true;  // APX
    } else if (first == 0xc4) {
      map = next() & 31;
      skip(1);
    } else {
      skip(1);
    }
    const bool short_form = first != 0x62;
    const uint8_t opcode = next();
    if (map < 1 || map == 4 || map > (short_form ? 3 : 6)) failed_ = true;
    if (short_form && map == 1 && opcode == 0x77) return;  // vzeroupper
    modrm();
    const bool immediate_of_map_1 =
        map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6));
    if (map == 3 || immediate_of_map_1) skip(1);
    if (short_form && map == 1 && opcode == 0xae && !(memory_ && field() == 3)) refuse("vldmxcsr");
    const bool further_tiles =
        short_form && map == 2 && (opcode == 0x4a || (opcode > 0x5c && opcode <= 0x5f) || (opcode & 0xfc) == 0x6c);
    if (further_tiles) refuse("an instruction on AMX tiles");
  }

  std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false, wide_ = false, locked_ = false, segment_ = false, memory_ = false, short_address_ = false;
  uint8_t mandatory_ = 0, rex_ = 0, modrm_ = 0;
  std::optional<int64_t> relative_;  // to rip
  Instruction result_;
};

}  // namespace

pass::Instruction decode_by_tables(std::string_view bytes) { return Decoder(bytes).decode(); }

}  // namespace passnet::fuzz
