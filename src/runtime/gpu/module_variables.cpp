#include "runtime/gpu/module_variables.h"

#include <fmt/format.h>

#include "pass/kernel/check/cubin_variables.h"
#include "runtime/gpu/driver.h"

namespace passnet::runtime::gpu {

namespace {

/// The driver copies no two of them at once, not even where they lie side by side.
std::string read_bytes(CUdeviceptr first, size_t size) {
  std::string bytes(size, '\0');
  check(driver().cuMemcpyDtoHAsync(bytes.data(), first, size, stream()), "reading a kernel's variables");
  check(driver().cuStreamSynchronize(stream()), "reading a kernel's variables");
  return bytes;
}

}  // namespace

Result<ModuleVariables> ModuleVariables::read(CUmodule module, std::string_view image) {
  PASSNET_TRY(const std::vector<pass::CubinVariable> named, pass::read_cubin_variables(image));
  ModuleVariables found;
  for (const pass::CubinVariable& variable : named) {
    CUdeviceptr first = 0;
    size_t size = 0;
    // The symbols are local ones. The driver finds these too: CUDA's own cudaMemcpyToSymbol depends on it.
    const CUresult done = driver().cuModuleGetGlobal(&first, &size, module, variable.name.c_str());
    if (done != CUDA_SUCCESS)
      return resource_error(fmt::format("the driver has no variable '{}': {}", variable.name, describe(done)));
    found.variables_.push_back({variable.name, first, read_bytes(first, size)});
  }
  return found;
}

std::optional<std::string> ModuleVariables::find_changed() const {
  for (const Variable& variable : variables_) {
    if (read_bytes(variable.first, variable.bytes.size()) != variable.bytes) return variable.name;
  }
  return std::nullopt;
}

}  // namespace passnet::runtime::gpu
