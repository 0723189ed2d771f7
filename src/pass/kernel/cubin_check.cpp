#include "pass/kernel/cubin_check.h"

#include <elf.h>
#include <fmt/format.h>

#include "base/strings.h"
#include "pass/kernel/elf_object.h"

namespace passnet::pass {
namespace {

constexpr const char* kCubin = "cubin";
#ifdef EM_CUDA
constexpr uint16_t kMachine = EM_CUDA;
#else
constexpr uint16_t kMachine = 190;
#endif

/// Variables that come from passnet/kernel.h (a kernel may not add to its namespace) and from the compiler.
bool is_ours(std::string_view name, const std::string& parameters, const std::vector<NamedConstant>& constants) {
  if (name == parameters || name.starts_with("_ZN7passnet") || name.starts_with("$str")) return true;
  for (const NamedConstant& constant : constants) {
    if (name == constant.name) return true;
  }
  return false;
}

/// Tables of numbers that libdevice reads, and the names of options that LLVM leaves behind.
bool is_libdevice_table(std::string_view name) { return name.starts_with("__cudart_") || name.starts_with("_$_str"); }

Error outlives(const std::string& kernel, std::string_view name, const ElfSection& section, uint64_t bytes) {
  return bad_pass(fmt::format("kernel '{}' has a variable {} ({}, {} bytes) that outlives a launch", kernel,
                              quoted(name), section.name, bytes));
}

}  // namespace

Result<std::string> check_cubin(std::string_view cubin, const std::string& kernel,
                                const std::vector<NamedConstant>& constants) {
  ElfObject object(cubin, kCubin, kMachine, ET_EXEC);
  PASSNET_TRY_VOID(object.open());
  const ElfSection* const table = object.section(".symtab");
  if (table == nullptr) return damaged_elf(kCubin, "no symbols");
  const std::string wanted = "passnet_parameters_" + kernel;
  std::string parameters;
  bool found = false;
  for (const Elf64_Sym& symbol : object.symbols(*table)) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= object.sections.size()) continue;
    const ElfSection& section = object.sections[symbol.st_shndx];
    const std::string_view name = object.symbol_name(*table, symbol);
    if (!section.name.starts_with(".nv.global")) continue;
    if (!is_ours(name, wanted, constants)) {
      return outlives(kernel, name, section, symbol.st_size)
          .with_hint("kernels may only use their arguments, __shared__ memory and registers");
    }
    if (name == wanted) {
      const std::string_view text = object.range(section.header.sh_offset + symbol.st_value, symbol.st_size);
      parameters = text.substr(0, text.find('\0'));
      found = true;
    }
  }
  if (!found || object.failed()) return damaged_elf(kCubin, "no kernel inside");
  return parameters;
}

Result<void> check_triton_cubin(std::string_view cubin, const std::string& entry) {
  ElfObject object(cubin, kCubin, kMachine, ET_EXEC);
  PASSNET_TRY_VOID(object.open());
  const ElfSection* const table = object.section(".symtab");
  if (table == nullptr) return damaged_elf(kCubin, "no symbols");
  for (const Elf64_Sym& symbol : object.symbols(*table)) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= object.sections.size()) continue;
    const ElfSection& section = object.sections[symbol.st_shndx];
    const std::string_view name = object.symbol_name(*table, symbol);
    if (section.name.starts_with(".nv.global") && !is_libdevice_table(name)) {
      return outlives(entry, name, section, symbol.st_size)
          .with_hint("kernels may only use their arguments, shared memory and registers");
    }
  }
  size_t kernels = 0;
  for (const ElfSection& section : object.sections) kernels += section.name.starts_with(".text.");
  if (kernels != 1 || object.section(".text." + entry) == nullptr || object.failed())
    return damaged_elf(kCubin, "another kernel inside");
  return {};
}

}  // namespace passnet::pass
