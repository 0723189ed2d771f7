#include "pass/kernel/check/elf_check.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text/strings.h"
#include "pass/kernel/check/code_check.h"
#include "pass/kernel/check/elf_object.h"
#include "pass/kernel/check/symbol_name.h"

namespace passnet::pass {
namespace {

/// Pure functions of libm and what compilers call on their own. Sorted.
constexpr std::string_view kAllowedSymbols[] = {
    "acos",     "acosf",     "acosh",  "acoshf",    "asin",       "asinf",  "asinh",   "asinhf",    "atan",
    "atan2",    "atan2f",    "atanf",  "atanh",     "atanhf",     "cbrt",   "cbrtf",   "ceil",      "ceilf",
    "copysign", "copysignf", "cos",    "cosf",      "cosh",       "coshf",  "erf",     "erfc",      "erfcf",
    "erff",     "exp",       "exp2",   "exp2f",     "expf",       "expm1",  "expm1f",  "fabs",      "fabsf",
    "floor",    "floorf",    "fma",    "fmaf",      "fmax",       "fmaxf",  "fmin",    "fminf",     "fmod",
    "fmodf",    "hypot",     "hypotf", "ldexp",     "ldexpf",     "log",    "log10",   "log10f",    "log1p",
    "log1pf",   "log2",      "log2f",  "logf",      "lrint",      "lrintf", "lround",  "lroundf",   "memcmp",
    "memcpy",   "memmove",   "memset", "nearbyint", "nearbyintf", "pow",    "powf",    "remainder", "remainderf",
    "rint",     "rintf",     "round",  "roundf",    "sin",        "sincos", "sincosf", "sinf",      "sinh",
    "sinhf",    "sqrt",      "sqrtf",  "tan",       "tanf",       "tanh",   "tanhf",   "tgamma",    "tgammaf",
    "trunc",    "truncf"};
static_assert(std::is_sorted(std::begin(kAllowedSymbols), std::end(kAllowedSymbols)));

constexpr uint32_t kRelocations[] = {R_X86_64_RELATIVE, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_64};
constexpr uint32_t kResolverRelocation = R_X86_64_IRELATIVE;

constexpr const char* kSharedObject = "shared object of this machine";
constexpr const char* kOnlyArguments = "kernels may only use their arguments and the stack";

Error damaged(const char* what) { return damaged_elf(kSharedObject, what); }

/// "'cache' (.bss, 4096 bytes)": the largest variable of a section, or the section alone.
std::string largest_variable(ElfObject& object, const ElfSection& section) {
  const auto index = static_cast<size_t>(&section - object.sections.data());
  std::string_view name;
  uint64_t size = 0;
  if (const ElfSection* all = object.section(".symtab")) {
    for (const Elf64_Sym& symbol : object.symbols(*all)) {
      const int type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx != index || (type != STT_OBJECT && type != STT_TLS) || symbol.st_size <= size) continue;
      name = object.symbol_name(*all, symbol);
      size = symbol.st_size;
    }
  }
  if (name.empty()) return fmt::format("{} ({} bytes)", section.name, section.header.sh_size);
  return fmt::format("{} ({}, {} bytes)", demangled(name), section.name, size);
}

Result<void> check_symbols(ElfObject& object, const std::string& kernel) {
  const ElfSection* dynamic = object.section(".dynsym");
  if (!dynamic) return damaged("no dynamic symbols");
  const std::string run = std::string(kRunPrefix) + kernel, parameters = "passnet_parameters_" + kernel;
  bool has_run = false, has_parameters = false;
  const auto symbols = object.symbols(*dynamic);
  for (size_t i = 1; i < symbols.size(); ++i) {
    const std::string_view name = object.symbol_name(*dynamic, symbols[i]);
    if (symbols[i].st_shndx == SHN_UNDEF) {
      if (std::binary_search(std::begin(kAllowedSymbols), std::end(kAllowedSymbols), name)) continue;
      return bad_pass(fmt::format("kernel '{}' calls {}, which kernels do not have", kernel, demangled(name)))
          .with_hint(
              "kernels may call what passnet/kernel.h gives and pure functions of libm; memory comes from "
              "the "
              "host plan (torch.empty)");
    }
    if (name == run)
      has_run = true;
    else if (name == parameters)
      has_parameters = true;
    else
      return bad_pass(fmt::format("kernel '{}' exports {}; only {} and {} may be exported", kernel, demangled(name),
                                  run, parameters))
          .with_hint("make it static, or remove its visibility attribute");
  }
  if (!has_run || !has_parameters) return damaged("no kernel inside");
  return {};
}

Result<void> check_state(ElfObject& object, const std::string& kernel) {
  const auto refuse = [&](const char* kind, const ElfSection& section) {
    return bad_pass(fmt::format("kernel '{}' keeps state between calls: {} {}; {}", kernel, kind,
                                largest_variable(object, section), kOnlyArguments))
        .with_hint("make it const or constexpr, a local variable, or an argument");
  };
  const Elf64_Phdr relro = object.segment(PT_GNU_RELRO).value_or(Elf64_Phdr{});
  const auto sealed = [&](uint64_t address, uint64_t size) {
    return address >= relro.p_vaddr && address + size <= relro.p_vaddr + relro.p_memsz;
  };
  for (const ElfSection& section : object.sections) {
    const Elf64_Shdr& s = section.header;
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_size == 0) continue;
    if (s.sh_flags & SHF_TLS) return refuse("thread-local data", section);
    if (s.sh_type == SHT_INIT_ARRAY || s.sh_type == SHT_FINI_ARRAY || s.sh_type == SHT_PREINIT_ARRAY) continue;
    if ((s.sh_flags & SHF_WRITE) && !sealed(s.sh_addr, s.sh_size)) return refuse("writable data", section);
  }
  if (object.segment(PT_TLS)) return damaged("thread-local data without a section");
  for (const Elf64_Phdr& segment : object.segments) {
    const bool writable = segment.p_flags & PF_W, executable = segment.p_flags & PF_X;
    if (segment.p_type == PT_GNU_STACK && executable) return damaged("an executable stack");
    if (segment.p_type != PT_LOAD) continue;
    if (writable && executable) return damaged("memory both writable and executable");
    if (writable && !sealed(segment.p_vaddr, segment.p_memsz)) return damaged("writable memory without a section");
  }
  return {};
}

Result<void> check_start_up(ElfObject& object, const std::string& kernel) {
  const auto refuse = [&](const char* what) {
    return bad_pass(fmt::format("kernel '{}' runs code when it is loaded: {}; {}", kernel, what, kOnlyArguments))
        .with_hint("a global variable that needs code to initialise must become constexpr or a local variable");
  };
  for (const Elf64_Dyn& entry : object.dynamic()) {
    switch (entry.d_tag) {
      case DT_NULL: return {};
      case DT_INIT: return refuse("an init function");
      case DT_FINI: return refuse("a fini function");
      case DT_INIT_ARRAY: return refuse("a constructor (.init_array)");
      case DT_PREINIT_ARRAY: return refuse("a constructor (.preinit_array)");
      case DT_FINI_ARRAY: return refuse("a destructor (.fini_array)");
      case DT_NEEDED:
      case DT_RPATH:
      case DT_RUNPATH:
      case DT_AUDIT:
      case DT_DEPAUDIT:
      case DT_FILTER:
      case DT_AUXILIARY: return bad_pass(fmt::format("kernel '{}' loads another library", kernel));
      case DT_TEXTREL: return bad_pass(fmt::format("kernel '{}' changes its own code when it is loaded", kernel));
      default: break;
    }
  }
  return {};
}

Result<void> check_relocations(ElfObject& object, const std::string& kernel) {
  uint64_t address[2] = {}, size[2] = {};
  for (const Elf64_Dyn& entry : object.dynamic()) {
    if (entry.d_tag == DT_RELA) address[0] = entry.d_un.d_ptr;
    if (entry.d_tag == DT_RELASZ) size[0] = entry.d_un.d_val;
    if (entry.d_tag == DT_JMPREL) address[1] = entry.d_un.d_ptr;
    if (entry.d_tag == DT_PLTRELSZ) size[1] = entry.d_un.d_val;
    if (entry.d_tag == DT_REL || entry.d_tag == DT_RELR) return damaged("relocations of another kind");
  }
  for (int which = 0; which < 2; ++which) {
    const std::string_view raw = size[which] ? object.loaded(address[which], size[which]) : std::string_view{};
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= raw.size(); at += sizeof(Elf64_Rela)) {
      Elf64_Rela relocation;
      std::memcpy(&relocation, raw.data() + at, sizeof relocation);
      const auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
      if (type == kResolverRelocation)
        return bad_pass(fmt::format("kernel '{}' runs code when it is loaded: an ifunc or target_clones resolver; {}",
                                    kernel, kOnlyArguments))
            .with_hint("remove the attribute; kernels are compiled for this machine already");
      if (std::find(std::begin(kRelocations), std::end(kRelocations), type) == std::end(kRelocations))
        return damaged("an unexpected relocation");
    }
  }
  return {};
}

/// The section holds our text alone: what a kernel put there too would be taken for its parameters.
Result<void> check_parameters(ElfObject& object, const ElfSection& section, const std::string& kernel) {
  if (const ElfSection* all = object.section(".symtab")) {
    for (const Elf64_Sym& symbol : object.symbols(*all)) {
      if (object.symbol_name(*all, symbol) == "_ZL22passnet_parameter_text" &&
          symbol.st_value == section.header.sh_addr && symbol.st_size == section.header.sh_size)
        return {};
    }
  }
  return bad_pass(fmt::format("kernel '{}' writes to the section .passnet.parameters, which belongs to "
                              "passnet/kernel.h",
                              kernel))
      .with_hint("remove the section attribute");
}

}  // namespace

Result<std::string> check_object(std::string_view bytes, const std::string& kernel, ObjectChecks checks) {
  ElfObject object(bytes, kSharedObject, EM_X86_64, ET_DYN);
  PASSNET_TRY_VOID(object.open());
  if (checks.parts) {
    PASSNET_TRY_VOID(check_state(object, kernel));
    PASSNET_TRY_VOID(check_start_up(object, kernel));
    PASSNET_TRY_VOID(check_relocations(object, kernel));
    PASSNET_TRY_VOID(check_symbols(object, kernel));
  }
  if (checks.code) PASSNET_TRY_VOID(check_code(object, kernel));
  const ElfSection* parameters = object.section(".passnet.parameters");
  if (!parameters) return damaged("no parameters inside");
  if (checks.parts) PASSNET_TRY_VOID(check_parameters(object, *parameters, kernel));
  const std::string_view text = object.range(parameters->header.sh_offset, parameters->header.sh_size);
  if (object.failed()) return damaged("cut short");
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace passnet::pass
