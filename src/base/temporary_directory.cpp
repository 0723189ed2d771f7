#include "base/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <utility>

namespace passnet {

Result<TemporaryDirectory> TemporaryDirectory::make(const std::filesystem::path& parent, const std::string& prefix) {
  std::error_code ignored;
  std::filesystem::create_directories(parent, ignored);
  std::string name = (parent / (prefix + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) return io_error("create a directory in", parent.string(), errno);
  return TemporaryDirectory(name);
}

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& prefix) {
  std::error_code failed;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
  if (failed) return io_error("find", "the directory for temporary files", failed.value());
  return make(parent, prefix);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, std::filesystem::path())) {}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace passnet
