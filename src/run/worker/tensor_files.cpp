#include "run/worker/tensor_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/strings.h"

namespace passnet::run {

Result<void> save_bundles(const std::filesystem::path& path, std::initializer_list<const Bundle*> bundles) {
  std::vector<wire::Mapping> memory;
  std::vector<wire::SavedTensor> tensors;
  for (const Bundle* bundle : bundles) {
    PASSNET_TRY(wire::Mapping mapped, wire::Mapping::map(bundle->fd.get(), bundle->size_bytes, false));
    for (const wire::Entry& entry : bundle->entries) tensors.push_back({&entry, mapped.data() + entry.offset});
    memory.push_back(std::move(mapped));
  }
  return wire::save_safetensors(path.string(), tensors);
}

Result<std::filesystem::path> tensor_directory(const std::filesystem::path& directory, const std::string& sample,
                                               const std::string& graph) {
  const std::filesystem::path name = std::filesystem::path(sample) / graph;
  if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end())
    return bad_input(
        fmt::format("the tensors of graph {} would not lie in '{}'", quoted(name.string(), 200), directory.string()));
  return directory / name;
}

}  // namespace passnet::run
