#include "loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

namespace passnet::cell {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostSpan = uint64_t{1} << 30;
constexpr const char* kCutShort = "the object is cut short";

constexpr uint32_t kRelative = R_X86_64_RELATIVE, kGlobal = R_X86_64_GLOB_DAT, kJump = R_X86_64_JUMP_SLOT,
                   kAbsolute = R_X86_64_64;

/// The object's file and where its segments lie in this process.
struct Object {
  const unsigned char* file = nullptr;
  uint64_t file_size = 0;
  unsigned char* base = nullptr;  // of address 0
  uint64_t span = 0;
  const Elf64_Phdr* segments = nullptr;
  size_t segment_count = 0;
  // As the dynamic section has them: addresses, and sizes in bytes.
  uint64_t symbols = 0, strings = 0, strings_size = 0, relocations[2] = {}, relocations_size[2] = {};

  /// Bytes of the file, or null when it does not hold them.
  template <class T>
  const T* in_file(uint64_t offset, uint64_t count = 1) const {
    if (offset > file_size || count > (file_size - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(file + offset);
  }
  template <class T>
  T* at(uint64_t address, uint64_t count = 1) const {
    if (address > span || count > (span - address) / sizeof(T)) return nullptr;
    return reinterpret_cast<T*>(base + address);
  }
  const char* name(uint32_t offset) const {
    if (offset >= strings_size) return nullptr;
    const char* text = at<const char>(strings + offset, strings_size - offset);
    return text != nullptr && std::memchr(text, 0, strings_size - offset) != nullptr ? text : nullptr;
  }
};

const char* open_object(int fd, Object& object) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return "the object cannot be read";
  object.file_size = static_cast<uint64_t>(info.st_size);
  void* file = ::mmap(nullptr, object.file_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (file == MAP_FAILED) return "the object cannot be mapped";
  object.file = static_cast<const unsigned char*>(file);
  const auto* header = object.in_file<Elf64_Ehdr>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_X86_64 ||
      header->e_type != ET_DYN)
    return "the object is no shared object of this machine";
  object.segments = object.in_file<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  object.segment_count = header->e_phnum;
  return object.segments == nullptr ? kCutShort : nullptr;
}

/// Copies the segments to where they belong, writable for now.
const char* place_segments(Object& object) {
  for (size_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr > kMostSpan || segment.p_memsz > kMostSpan || segment.p_filesz > segment.p_memsz)
      return "a segment of the object is too large";
    object.span = object.span < segment.p_vaddr + segment.p_memsz ? segment.p_vaddr + segment.p_memsz : object.span;
  }
  object.span = round_up(object.span, kPage);
  void* memory = ::mmap(nullptr, object.span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return "no memory for the object";
  object.base = static_cast<unsigned char*>(memory);
  for (size_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_LOAD) continue;
    const auto* bytes = object.in_file<unsigned char>(segment.p_offset, segment.p_filesz);
    if (bytes == nullptr) return kCutShort;
    std::memcpy(object.base + segment.p_vaddr, bytes, segment.p_filesz);
  }
  return nullptr;
}

const char* read_dynamic(Object& object) {
  for (size_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const uint64_t count = segment.p_memsz / sizeof(Elf64_Dyn);
    const auto* entries = object.at<const Elf64_Dyn>(segment.p_vaddr, count);
    if (entries == nullptr) return kCutShort;
    for (uint64_t e = 0; e < count && entries[e].d_tag != DT_NULL; ++e) {
      const uint64_t value = entries[e].d_un.d_val;
      switch (entries[e].d_tag) {
        case DT_SYMTAB: object.symbols = value; break;
        case DT_STRTAB: object.strings = value; break;
        case DT_STRSZ: object.strings_size = value; break;
        case DT_RELA: object.relocations[0] = value; break;
        case DT_RELASZ: object.relocations_size[0] = value; break;
        case DT_JMPREL: object.relocations[1] = value; break;
        case DT_PLTRELSZ: object.relocations_size[1] = value; break;
        default: break;
      }
    }
    return nullptr;
  }
  return "the object has no dynamic section";
}

/// The address of a symbol: the object's own, or this process's. found: false when there is none; one that is weak may
/// be none.
void* resolve(const Object& object, uint64_t index, bool* found) {
  const auto* symbol = object.at<const Elf64_Sym>(object.symbols + index * sizeof(Elf64_Sym));
  *found = false;
  if (symbol == nullptr) return nullptr;
  void* address = nullptr;
  if (symbol->st_shndx != SHN_UNDEF)
    address = object.at<unsigned char>(symbol->st_value);
  else if (const char* name = object.name(symbol->st_name))
    address = ::dlsym(RTLD_DEFAULT, name);
  *found = address != nullptr || ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
  return address;
}

const char* relocate(const Object& object) {
  for (int which = 0; which < 2; ++which) {
    const uint64_t count = object.relocations_size[which] / sizeof(Elf64_Rela);
    const auto* entries = object.at<const Elf64_Rela>(object.relocations[which], count);
    if (entries == nullptr) return kCutShort;
    for (uint64_t i = 0; i < count; ++i) {
      const auto type = static_cast<uint32_t>(ELF64_R_TYPE(entries[i].r_info));
      auto* target = object.at<uint64_t>(entries[i].r_offset);
      if (target == nullptr) return "a relocation lies outside of the object";
      uint64_t value = 0;
      if (type == kRelative) {
        value = reinterpret_cast<uint64_t>(object.base);
      } else if (type == kGlobal || type == kJump || type == kAbsolute) {
        bool found = false;
        void* symbol = resolve(object, ELF64_R_SYM(entries[i].r_info), &found);
        if (!found) return "the object calls a function that is not there";
        value = reinterpret_cast<uint64_t>(symbol);
      } else {
        return "the object has a relocation of an unknown kind";
      }
      value += type == kRelative || type == kAbsolute ? static_cast<uint64_t>(entries[i].r_addend) : 0;
      std::memcpy(target, &value, sizeof value);
    }
  }
  return nullptr;
}

/// Code may be run, the rest may be read; nothing stays writable.
const char* protect(const Object& object) {
  if (::mprotect(object.base, object.span, PROT_READ) != 0) return "the object's memory cannot be protected";
  for (size_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
    const uint64_t begin = segment.p_vaddr / kPage * kPage, end = round_up(segment.p_vaddr + segment.p_memsz, kPage);
    if (::mprotect(object.base + begin, end - begin, PROT_READ | PROT_EXEC) != 0)
      return "the object's code cannot be made executable";
  }
  return nullptr;
}

/// Where the dynamic symbol `name` lies. Null: the object has none.
void* find(const Object& object, const char* name) {
  const auto* header = object.in_file<Elf64_Ehdr>(0);
  const auto* sections = object.in_file<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (size_t i = 0; sections != nullptr && i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    for (uint64_t s = 1; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s) {
      const auto* symbol = object.at<const Elf64_Sym>(object.symbols + s * sizeof(Elf64_Sym));
      const char* found = symbol == nullptr ? nullptr : object.name(symbol->st_name);
      if (found != nullptr && std::strcmp(found, name) == 0 && symbol->st_shndx != SHN_UNDEF)
        return object.at<unsigned char>(symbol->st_value);
    }
  }
  return nullptr;
}

}  // namespace

const char* load_kernel(int fd, KernelRow* row, passnet_run_fn* entry) {
  Object object;
  if (const char* problem = open_object(fd, object)) return problem;
  if (const char* problem = place_segments(object)) return problem;
  if (const char* problem = read_dynamic(object)) return problem;
  if (const char* problem = relocate(object)) return problem;
  if (const char* problem = protect(object)) return problem;
  *entry = reinterpret_cast<passnet_run_fn>(find(object, row->entry));
  if (*entry == nullptr) return "the object does not have the kernel's function";
  row->begin = reinterpret_cast<uint64_t>(object.base);
  row->end = row->begin + object.span;
  ::munmap(const_cast<unsigned char*>(object.file), object.file_size);
  return nullptr;
}

}  // namespace passnet::cell
