#include "selftest/scratch_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <utility>

namespace passnet::selftest {

Result<ScratchDirectory> ScratchDirectory::make() {
  std::error_code failed;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
  if (failed) return io_error("find", "the directory for temporary files", failed.value());
  std::string name = (parent / "passnet-selftest-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return io_error("create a directory in", parent.string(), errno);
  return ScratchDirectory(name);
}

ScratchDirectory::ScratchDirectory(ScratchDirectory&& other) noexcept
    : path_(std::exchange(other.path_, std::filesystem::path())) {}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace passnet::selftest
