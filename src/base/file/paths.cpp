#include "base/file/paths.h"

#include <algorithm>
#include <system_error>

namespace passnet {

namespace fs = std::filesystem;

bool path_exists(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

bool directory_exists(const fs::path& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

bool file_exists(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

fs::path absolute_path(const fs::path& path) {
  std::error_code failed;
  const fs::path full = fs::absolute(path, failed);
  return (failed ? path : full).lexically_normal();
}

Result<std::vector<fs::path>> list_directory(const fs::path& directory) {
  std::error_code failed;
  std::vector<fs::path> entries;
  fs::directory_iterator entry(directory, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) entries.push_back(entry->path());
  if (failed) return io_error("read", directory.string(), failed.value());
  std::ranges::sort(entries);
  return entries;
}

}  // namespace passnet
