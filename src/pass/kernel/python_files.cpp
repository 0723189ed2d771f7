#include "pass/kernel/python_files.h"

#include <fmt/format.h>

#include "base/file/file.h"
#include "base/file/paths.h"

namespace passnet::pass {

fs::path python_packages() {
  // A wheel's programs lie in site-packages/passnet/bin.
  const fs::path package = beside_binary("").parent_path().parent_path();
  const fs::path site = package.parent_path();
  if (package.filename() == "passnet" && path_exists(site / "torch/lib/libtorch_cpu.so")) return site;
  return fs::path(PASSNET_TORCH_DIR).parent_path();
}

Result<fs::path> find_scripts(const std::string& package) {
  for (const char* below : {"python", "share/passnet/python"}) {
    if (const fs::path found = find_above_binary(fs::path(below) / package); !found.empty()) return found.parent_path();
  }
  return resource_error(fmt::format("python/{} is not found above the running program", package))
      .with_hint("install PassNet with 'make install', or run it from its build tree");
}

}  // namespace passnet::pass
