#include "base/file/leftovers.h"

#include <string>
#include <vector>

#include "base/file/file.h"

namespace passnet {

bool is_leftover(const fs::path& path) {
  const std::string name = path.filename().string();
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == name.size() || digits == 0) return false;
  const std::string_view before = std::string_view(name).substr(0, digits);
  const bool is_file = before.ends_with(".tmp"), is_directory = before.starts_with('.') && before.ends_with('.');
  if (!is_file && (!is_directory || before.size() < 3)) return false;
  return !entry_exists(fs::path("/proc") / name.substr(digits));
}

void remove_leftovers(const fs::path& root) {
  std::error_code failed;
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator at(root, failed), end; !failed && at != end; at.increment(failed)) {
    if (!is_leftover(at->path())) continue;
    found.push_back(at->path());
    at.disable_recursion_pending();
  }
  for (const fs::path& path : found) fs::remove_all(path, failed);
}

}  // namespace passnet
