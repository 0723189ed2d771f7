// A small bounds-checked reader of ELF64, little endian.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::pass {

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header;
};

inline Error damaged_elf(const char* what, const char* why) {
  Error error;
  error.kind = Error::Kind::Io;
  error.message = std::string("not a ") + what + ": " + why;
  return error;
}

/// Every access is checked against the size of the file; `failed` remembers the first that was out of bounds.
class ElfObject {
 public:
  /// what: how messages call such a file. machine, type: e_machine and e_type of the ELF header.
  ElfObject(std::string_view bytes, const char* what, uint16_t machine, uint16_t type)
      : bytes_(bytes), what_(what), machine_(machine), type_(type) {}

  Result<void> open() {
    if (bytes_.size() < sizeof header_) return damaged_elf(what_, "shorter than an ELF header");
    std::memcpy(&header_, bytes_.data(), sizeof header_);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return damaged_elf(what_, "no ELF header");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_machine != machine_ || header_.e_type != type_)
      return damaged_elf(what_, "of another kind");
    segments = table<Elf64_Phdr>(header_.e_phoff, uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr));
    const auto headers = table<Elf64_Shdr>(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr));
    if (header_.e_shstrndx >= headers.size()) return damaged_elf(what_, "no section names");
    for (const Elf64_Shdr& section : headers) {
      sections.push_back({string(headers[header_.e_shstrndx], section.sh_name), section});
    }
    if (segments.empty() || failed_) return damaged_elf(what_, "cut short");
    return {};
  }

  bool failed() const { return failed_; }

  std::string_view range(uint64_t offset, uint64_t size) {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      failed_ = true;
      return {};
    }
    return bytes_.substr(offset, size);
  }
  template <class T>
  std::vector<T> table(uint64_t offset, uint64_t size) {
    const std::string_view raw = range(offset, size);
    std::vector<T> out(raw.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), raw.data(), out.size() * sizeof(T));
    return out;
  }
  std::string_view string(const Elf64_Shdr& strings, uint64_t at) {
    const std::string_view raw = range(strings.sh_offset, strings.sh_size);
    if (at >= raw.size()) return {};
    return raw.substr(at, raw.substr(at).find('\0'));
  }

  const ElfSection* section(std::string_view name) const {
    const auto found =
        std::find_if(sections.begin(), sections.end(), [&](const ElfSection& s) { return s.name == name; });
    return found == sections.end() ? nullptr : &*found;
  }
  std::vector<Elf64_Sym> symbols(const ElfSection& table_section) {
    return table<Elf64_Sym>(table_section.header.sh_offset, table_section.header.sh_size);
  }
  std::string_view symbol_name(const ElfSection& table_section, const Elf64_Sym& symbol) {
    const uint32_t strings = table_section.header.sh_link;
    return strings < sections.size() ? string(sections[strings].header, symbol.st_name) : std::string_view{};
  }
  std::optional<Elf64_Phdr> segment(uint32_t type) const {
    const auto found =
        std::find_if(segments.begin(), segments.end(), [&](const Elf64_Phdr& s) { return s.p_type == type; });
    return found == segments.end() ? std::nullopt : std::optional(*found);
  }
  /// Bytes of the file at a load address.
  std::string_view loaded(uint64_t address, uint64_t size) {
    for (const Elf64_Phdr& s : segments) {
      if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr <= s.p_filesz &&
          size <= s.p_filesz - (address - s.p_vaddr))
        return range(s.p_offset + (address - s.p_vaddr), size);
    }
    failed_ = true;
    return {};
  }
  std::vector<Elf64_Dyn> dynamic() {
    const auto where = segment(PT_DYNAMIC);
    return where ? table<Elf64_Dyn>(where->p_offset, where->p_filesz) : std::vector<Elf64_Dyn>{};
  }

  std::vector<Elf64_Phdr> segments;
  std::vector<ElfSection> sections;

 private:
  std::string_view bytes_;
  const char* what_;
  uint16_t machine_, type_;
  Elf64_Ehdr header_{};
  bool failed_ = false;
};

}  // namespace passnet::pass
