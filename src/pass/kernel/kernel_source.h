// A kernel's source text before the compiler sees it: what it may not say, which kernels it defines, and the
// translation unit that is built from it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"

namespace passnet::pass {

struct KernelDefinition {
  std::string name;
  SourceLoc at;
  /// Its definition in the text, from PASSNET_KERNEL to its closing brace; equal: it cannot be told apart (directives or
  /// digraphs are in it).
  size_t begin = 0, end = 0;
};

struct KernelSource {
  std::string text;                       // as given, with its (allowed) includes blanked: the unit includes kernel.h
  std::vector<KernelDefinition> kernels;  // in order
};

/// Errors: BadPass at file:line:col for an include other than passnet/kernel.h and the integer types, a
/// directive or pragma outside a short list, inline assembly.
Result<KernelSource> parse_kernel_source(const std::string& file, std::string text);

/// The C++ type of an element in kernels, "passnet::float16"; empty when kernels do not have it.
std::string_view element_type(ir::DType dtype);

/// Names the compiler reports positions under: the kernel's own text, and what we put around it.
inline constexpr const char* kKernelFile = "passnet-kernel";
inline constexpr const char* kLauncherFile = "passnet-launcher";

enum class Target { Cpu, Gpu };

/// The text to compile: kernel.h, the constants, the source without its other kernels (which have constants of their own),
/// and the exported functions of
/// include/passnet/abi.h. Errors: BadPass for a constant whose name is no identifier or whose dtype kernels
/// do not have.
Result<std::string> render_unit(const std::string& file, const KernelSource& source, const std::string& kernel,
                                const std::vector<NamedConstant>& constants, Target target = Target::Cpu);

}  // namespace passnet::pass
