#include "dataset/catalog/empty_directory.h"

#include <fmt/format.h>

#include <vector>

#include "base/file/file.h"
#include "base/file/paths.h"

namespace passnet::dataset {

namespace fs = std::filesystem;

Result<void> require_empty(const fs::path& out) {
  if (!entry_exists(out)) return {};
  PASSNET_TRY(const std::vector<fs::path> there, list_directory(out));
  if (there.empty()) return {};
  return bad_input(fmt::format("'{}' holds '{}', expected an empty or a new directory", out.string(),
                               there.front().filename().string()))
      .with_hint("remove it, or name another directory");
}

}  // namespace passnet::dataset
