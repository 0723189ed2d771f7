#include "cluster/new_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/file/file.h"
#include "base/file/paths.h"

namespace passnet::cluster {

Result<NewDirectory> NewDirectory::begin(const fs::path& path) {
  PASSNET_TRY_VOID(require_empty(path));
  fs::path full = absolute_path(path);
  if (!full.has_filename()) full = full.parent_path();  // "out/"
  fs::path partial = full.parent_path() / fmt::format(".{}.{}", full.filename().string(), ::getpid());
  PASSNET_TRY_VOID(remove_directory(partial));  // left by a killed process of the same number
  PASSNET_TRY_VOID(make_directories(partial));
  return NewDirectory(full, std::move(partial));
}

NewDirectory::NewDirectory(fs::path path, fs::path partial) : path_(std::move(path)), partial_(std::move(partial)) {}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : path_(std::move(other.path_)), partial_(std::exchange(other.partial_, {})) {}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove_all(partial_, ignored);
}

Result<void> NewDirectory::finish() {
  std::error_code failed;
  fs::rename(partial_, path_, failed);
  if (failed) return io_error("rename to", path_.string(), failed.value());
  partial_.clear();
  return {};
}

}  // namespace passnet::cluster
