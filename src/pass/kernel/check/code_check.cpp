#include "pass/kernel/check/code_check.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/strings.h"
#include "pass/kernel/check/instruction.h"
#include "pass/kernel/check/symbol_name.h"

namespace passnet::pass {
namespace {

constexpr char kTrap = '\xcc';  // with which some linkers fill what is left of a page
constexpr const char* kShared = "shared object of this machine";
constexpr const char* kHint = "kernels compute on their arguments; passnet/kernel.h gives what they need for that";

struct Known {
  std::string_view name;
  uint64_t flags;  // SHF_ALLOC, SHF_WRITE, SHF_EXECINSTR
};
/// What linkers make of kernels. Sorted.
constexpr Known kSections[] = {
    {".comment", 0},
    {".data.rel.ro", SHF_ALLOC | SHF_WRITE},
    {".dynamic", SHF_ALLOC | SHF_WRITE},
    {".dynstr", SHF_ALLOC},
    {".dynsym", SHF_ALLOC},
    {".eh_frame", SHF_ALLOC},
    {".eh_frame_hdr", SHF_ALLOC},
    {".gnu.hash", SHF_ALLOC},
    {".got", SHF_ALLOC | SHF_WRITE},
    {".got.plt", SHF_ALLOC | SHF_WRITE},
    {".hash", SHF_ALLOC},
    {".note.gnu.property", SHF_ALLOC},
    {".passnet.parameters", SHF_ALLOC},
    {".plt", SHF_ALLOC | SHF_EXECINSTR},
    {".plt.got", SHF_ALLOC | SHF_EXECINSTR},
    {".plt.sec", SHF_ALLOC | SHF_EXECINSTR},
    {".rela.dyn", SHF_ALLOC},
    {".rela.plt", SHF_ALLOC},
    {".relro_padding", SHF_ALLOC | SHF_WRITE},
    {".rodata", SHF_ALLOC},
    {".sframe", SHF_ALLOC},
    {".shstrtab", 0},
    {".strtab", 0},
    {".symtab", 0},
    {".text", SHF_ALLOC | SHF_EXECINSTR},
};
constexpr uint64_t kFlags = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR;

bool is_known(const ElfSection& section) {
  const uint64_t flags = section.header.sh_flags & kFlags;
  if (section.header.sh_type == SHT_NULL || section.header.sh_size == 0) return true;
  if (section.name.starts_with(".debug_")) return flags == 0;
  return std::any_of(std::begin(kSections), std::end(kSections),
                     [&](const Known& known) { return known.name == section.name && known.flags == flags; });
}

/// One executable section.
struct Code {
  uint64_t address = 0;
  std::string_view bytes;
  std::vector<bool> starts;  // of each byte: an instruction begins there

  bool holds(uint64_t at) const { return at >= address && at - address < bytes.size(); }
};

class CodeCheck {
 public:
  CodeCheck(ElfObject& object, const std::string& kernel) : object_(object), kernel_(kernel) {}

  Result<void> check() {
    PASSNET_TRY_VOID(check_sections());
    PASSNET_TRY_VOID(check_segments());
    PASSNET_TRY_VOID(check_symbols());
    for (Code& code : codes_) PASSNET_TRY_VOID(read(code));
    for (const auto& [from, to] : branches_) PASSNET_TRY_VOID(check_target(from, to));
    if (!calls_pointers_) return {};
    for (const Code& code : codes_) {
      if (const std::string_view name = hidden_instruction(code.bytes); !name.empty())
        return bad_pass(fmt::format("kernel '{}' calls through pointers and holds the bytes of '{}' inside other "
                                    "instructions",
                                    kernel_, name))
            .with_hint("call functions by their names; what differs between them can be a template parameter");
    }
    return {};
  }

 private:
  Result<void> check_sections() {
    for (const ElfSection& section : object_.sections) {
      if (!is_known(section)) {
        return bad_pass(fmt::format("kernel '{}' has a section {} ({} bytes), which kernels do not have", kernel_,
                                    quoted(section.name, 60), section.header.sh_size))
            .with_hint("remove the section attribute");
      }
      if (section.header.sh_size == 0 || !(section.header.sh_flags & SHF_EXECINSTR)) continue;
      Code code;
      code.address = section.header.sh_addr;
      code.bytes = object_.range(section.header.sh_offset, section.header.sh_size);
      code.starts.resize(code.bytes.size());
      if (section.header.sh_type != SHT_PROGBITS || code.bytes.empty()) return damaged_elf(kShared, "code of no bytes");
      codes_.push_back(std::move(code));
    }
    return {};
  }

  /// The loader goes by segments: what is executable there must be what the sections say.
  Result<void> check_segments() {
    for (const Elf64_Phdr& segment : object_.segments) {
      if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
      const std::string_view bytes = object_.range(segment.p_offset, segment.p_filesz);
      if (segment.p_memsz != segment.p_filesz) return damaged_elf(kShared, "code without bytes in the file");
      for (size_t i = 0; i < bytes.size(); ++i) {
        const uint64_t at = segment.p_vaddr + i;
        const auto code = std::find_if(codes_.begin(), codes_.end(), [&](const Code& c) { return c.holds(at); });
        if (code == codes_.end()) {
          if (bytes[i] != 0 && bytes[i] != kTrap) return damaged_elf(kShared, "executable bytes outside of its code");
        } else if (code->bytes.data() - bytes.data() != static_cast<std::ptrdiff_t>(code->address - segment.p_vaddr)) {
          return damaged_elf(kShared, "code at two places");
        } else {
          i += code->bytes.size() - (at - code->address) - 1;
        }
      }
    }
    return {};
  }

  Result<void> check_symbols() {
    const ElfSection* const table = object_.section(".symtab");
    if (table == nullptr) return damaged_elf(kShared, "no symbols");
    for (const Elf64_Sym& symbol : object_.symbols(*table)) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= object_.sections.size()) continue;
      if (!(object_.sections[symbol.st_shndx].header.sh_flags & SHF_EXECINSTR)) continue;
      const std::string_view name = object_.symbol_name(*table, symbol);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_OBJECT || name == "$d" || name.starts_with("$d.")) {
        return bad_pass(fmt::format("kernel '{}' has data among its code: {}", kernel_, demangled(name)))
            .with_hint("remove the section attribute");
      }
      if (type == STT_FUNC) functions_.emplace_back(symbol.st_value, name);
    }
    std::sort(functions_.begin(), functions_.end());
    return {};
  }

  /// "in 'f(float*)'": the function that an address belongs to.
  std::string place(uint64_t address) const {
    const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                        [](uint64_t a, const auto& function) { return a < function.first; });
    if (after == functions_.begin()) return fmt::format("at {:#x}", address);
    return "in " + demangled(std::prev(after)->second);
  }

  Result<void> read(Code& code) {
    for (size_t at = 0; at < code.bytes.size();) {
      const uint64_t address = code.address + at;
      const Instruction found = decode_instruction(code.bytes.substr(at));
      if (found.refused != nullptr) {
        return bad_pass(fmt::format("kernel '{}' holds the instruction '{}' ({}), which kernels may not have", kernel_,
                                    found.refused, place(address)))
            .with_hint(kHint);
      }
      if (found.length == 0) {
        return bad_pass(fmt::format("kernel '{}' has bytes among its code that are no instruction of a kernel: {} ({})",
                                    kernel_, hex(code.bytes.substr(at, 8)), place(address)))
            .with_hint(kHint);
      }
      code.starts[at] = true;
      at += found.length;
      if (found.flow == Instruction::Flow::Direct)
        branches_.emplace_back(address, address + static_cast<uint64_t>(found.target));
      else if (found.flow == Instruction::Flow::Indirect)
        calls_pointers_ |= !found.slot || !is_linked(address + static_cast<uint64_t>(*found.slot));
    }
    return {};
  }

  static std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<uint8_t>(byte));
    return text;
  }

  /// Whether a call goes through the table that the loader fills with allowed functions and seals.
  bool is_linked(uint64_t slot) const {
    return std::any_of(object_.sections.begin(), object_.sections.end(), [&](const ElfSection& section) {
      return section.name.starts_with(".got") && slot >= section.header.sh_addr &&
             slot - section.header.sh_addr < section.header.sh_size;
    });
  }

  Result<void> check_target(uint64_t from, uint64_t to) {
    const auto code = std::find_if(codes_.begin(), codes_.end(), [&](const Code& c) { return c.holds(to); });
    if (code != codes_.end() && code->starts[to - code->address]) return {};
    return bad_pass(fmt::format("kernel '{}' jumps {} ({})", kernel_,
                                code == codes_.end() ? "out of its code" : "into the middle of an instruction",
                                place(from)))
        .with_hint(kHint);
  }

  ElfObject& object_;
  const std::string& kernel_;
  std::vector<Code> codes_;
  std::vector<std::pair<uint64_t, std::string_view>> functions_;  // by address
  std::vector<std::pair<uint64_t, uint64_t>> branches_;           // from, to
  bool calls_pointers_ = false;
};

}  // namespace

Result<void> check_code(ElfObject& object, const std::string& kernel) { return CodeCheck(object, kernel).check(); }

}  // namespace passnet::pass
