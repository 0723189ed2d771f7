// A cubin as an ELF file.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string_view>

#include "pass/kernel/check/elf_object.h"

namespace passnet::pass {

/// How messages call it.
inline constexpr const char* kCubin = "cubin";
#ifdef EM_CUDA
inline constexpr uint16_t kCubinMachine = EM_CUDA;
#else
inline constexpr uint16_t kCubinMachine = 190;
#endif

/// Not opened yet. cubin must outlive it.
inline ElfObject cubin_object(std::string_view cubin) { return {cubin, kCubin, kCubinMachine, ET_EXEC}; }

}  // namespace passnet::pass
