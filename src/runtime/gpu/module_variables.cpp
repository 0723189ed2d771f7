#include "runtime/gpu/module_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "pass/kernel/cubin_variables.h"
#include "runtime/gpu/driver.h"

namespace passnet::runtime::gpu {

namespace {

/// Bytes between two variables that are read with them rather than left out: one read takes as long as thousands.
constexpr size_t kMostBetween = 256;

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
    found.variables_.push_back({variable.name, first, size});
  }
  std::ranges::sort(found.variables_, {}, &Variable::first);
  for (const Variable& variable : found.variables_) {
    if (found.ranges_.empty() || variable.first > found.ranges_.back().end() + kMostBetween)
      found.ranges_.push_back({variable.first, {}});
    Range& range = found.ranges_.back();
    range.bytes.resize(std::max<size_t>(range.bytes.size(), variable.first + variable.size - range.first));
  }
  for (Range& range : found.ranges_) range.bytes = read_bytes(range.first, range.bytes.size());
  return found;
}

std::optional<std::string> ModuleVariables::find_changed() const {
  for (const Range& range : ranges_) {
    const std::string now = read_bytes(range.first, range.bytes.size());
    const auto [before, after] = std::ranges::mismatch(range.bytes, now);
    if (before != range.bytes.end()) return name_at(range.first + static_cast<size_t>(before - range.bytes.begin()));
  }
  return std::nullopt;
}

const std::string& ModuleVariables::name_at(CUdeviceptr address) const {
  // The last that begins there or before: what lies behind a variable counts as its own.
  const auto behind = std::ranges::upper_bound(variables_, address, {}, &Variable::first);
  return std::prev(behind)->name;
}

}  // namespace passnet::runtime::gpu
