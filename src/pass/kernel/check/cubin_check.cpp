#include "pass/kernel/check/cubin_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "pass/kernel/check/cubin_object.h"
#include "pass/kernel/check/cubin_variables.h"
#include "pass/kernel/check/cuda_tables.h"

namespace passnet::pass {
namespace {

/// Variables that come from passnet/kernel.h (a kernel may not add to its namespace) and from the compiler.
bool is_ours(std::string_view name, const std::string& parameters, const std::vector<NamedConstant>& constants) {
  if (name == parameters || name.starts_with("_ZN7passnet") || name.starts_with("$str")) return true;
  for (const NamedConstant& constant : constants) {
    if (name == constant.name) return true;
  }
  return false;
}

/// The name of an option ("__CUDA_FTZ") that libdevice asked LLVM for, which leaves it behind.
bool is_option_name(const CubinVariable& variable) {
  return variable.name.starts_with("_$_str") && variable.bytes.starts_with("__CUDA_") &&
         variable.bytes.find('\0') == variable.bytes.size() - 1;
}

Error outlives(const std::string& kernel, const CubinVariable& variable, const char* hint) {
  const bool is_table = variable.name.starts_with("__cudart_");
  return bad_pass(fmt::format("kernel '{}' has a variable {} ({}, {} bytes) that outlives a launch", kernel,
                              quoted(variable.name), variable.section, variable.size))
      .with_hint(is_table ? "tables of CUDA's library are taken with the numbers that they have in CUDA 12.4 to 13.0"
                          : hint);
}

}  // namespace

Result<std::string> check_cubin(std::string_view cubin, const std::string& kernel,
                                const std::vector<NamedConstant>& constants) {
  PASSNET_TRY(const std::vector<CubinVariable> variables, read_cubin_variables(cubin));
  const std::string parameters = "passnet_parameters_" + kernel;
  for (const CubinVariable& variable : variables) {
    if (!is_ours(variable.name, parameters, constants) && !is_cuda_table(variable.name, variable.bytes))
      return outlives(kernel, variable, "kernels may only use their arguments, __shared__ memory and registers");
  }
  const auto found = std::ranges::find(variables, parameters, &CubinVariable::name);
  if (found == variables.end()) return damaged_elf(kCubin, "no kernel inside");
  return found->bytes.substr(0, found->bytes.find('\0'));
}

Result<void> check_triton_cubin(std::string_view cubin, const std::string& entry) {
  PASSNET_TRY(const std::vector<CubinVariable> variables, read_cubin_variables(cubin));
  for (const CubinVariable& variable : variables) {
    if (!is_option_name(variable) && !is_cuda_table(variable.name, variable.bytes))
      return outlives(entry, variable, "kernels may only use their arguments, shared memory and registers");
  }
  ElfObject object = cubin_object(cubin);
  PASSNET_TRY_VOID(object.open());
  size_t kernels = 0;
  for (const ElfSection& section : object.sections) kernels += section.name.starts_with(".text.");
  if (kernels != 1 || object.section(".text." + entry) == nullptr || object.failed())
    return damaged_elf(kCubin, "another kernel inside");
  return {};
}

}  // namespace passnet::pass
