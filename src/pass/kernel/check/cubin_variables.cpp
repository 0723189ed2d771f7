#include "pass/kernel/check/cubin_variables.h"

#include <elf.h>

#include "pass/kernel/check/cubin_object.h"

namespace passnet::pass {

Result<std::vector<CubinVariable>> read_cubin_variables(std::string_view cubin) {
  ElfObject object = cubin_object(cubin);
  PASSNET_TRY_VOID(object.open());
  const ElfSection* const table = object.section(".symtab");
  if (table == nullptr) return damaged_elf(kCubin, "no symbols");
  std::vector<CubinVariable> variables;
  for (const Elf64_Sym& symbol : object.symbols(*table)) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= object.sections.size()) continue;
    const ElfSection& section = object.sections[symbol.st_shndx];
    if (!section.name.starts_with(".nv.global")) continue;
    const bool zeros = section.header.sh_type == SHT_NOBITS;
    const std::string_view bytes =
        zeros ? std::string_view() : object.range(section.header.sh_offset + symbol.st_value, symbol.st_size);
    variables.push_back({std::string(object.symbol_name(*table, symbol)), std::string(section.name),
                         static_cast<size_t>(symbol.st_size), std::string(bytes)});
  }
  if (object.failed()) return damaged_elf(kCubin, "cut short");
  return variables;
}

}  // namespace passnet::pass
