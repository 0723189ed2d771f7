#include "cluster/new_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"

namespace passnet::cluster {

namespace fs = std::filesystem;

Result<NewDirectory> NewDirectory::begin(const fs::path& path) {
  std::error_code failed;
  if (entry_exists(path) && !(directory_exists(path) && fs::is_empty(path, failed)))
    return bad_input(fmt::format("found {}, expected a new directory for what is merged", quoted(path.string(), 200)))
        .with_hint("give another --out");
  fs::path full = absolute_path(path);
  if (!full.has_filename()) full = full.parent_path();  // "out/"
  fs::path partial = full.parent_path() / fmt::format(".{}.{}", full.filename().string(), ::getpid());
  PASSNET_TRY_VOID(remove_directory(partial));  // left by a killed process of the same number
  fs::create_directories(partial, failed);
  if (failed) return io_error("create", partial.string(), failed.value());
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
