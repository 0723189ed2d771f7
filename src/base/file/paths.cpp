#include "base/file/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/file/file.h"
#include "base/text/strings.h"

namespace passnet {

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

Result<void> make_directories(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) return io_error("create", path.string(), failed.value());
  return {};
}

Result<void> require_empty(const fs::path& out) {
  if (!entry_exists(out)) return {};
  constexpr size_t kMostOfAPath = 200;
  const std::string name = quoted(out.string(), kMostOfAPath);
  if (!directory_exists(out)) return bad_input(fmt::format("{} is no directory, expected an empty or a new one", name));
  PASSNET_TRY(const std::vector<fs::path> there, list_directory(out));
  if (there.empty()) return {};
  return bad_input(fmt::format("{} holds {}, expected an empty or a new directory", name,
                               quoted(there.front().filename().string(), kMostOfAPath)))
      .with_hint("remove it, or name another directory");
}

}  // namespace passnet
