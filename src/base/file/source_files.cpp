#include "base/file/source_files.h"

#include <map>
#include <mutex>
#include <utility>

namespace passnet {

namespace {

fs::path in_full(const fs::path& path) {
  std::error_code failed;
  const fs::path full = fs::absolute(path, failed).lexically_normal();
  return full.has_filename() ? full : full.parent_path();  // without a last '/'
}

}  // namespace

struct SourceFiles::Kept {
  const std::vector<fs::path> roots;
  const bool follow_links = false;
  std::mutex mutex = {};
  std::map<fs::path, Result<Text>> files = {};  // by in_full()
  size_t bytes = 0;

  // The root, and the path of the file from there.
  std::pair<fs::path, fs::path> split(const fs::path& file) const {
    for (const fs::path& root : roots) {
      const fs::path below = in_full(file).lexically_relative(in_full(root));
      if (!below.empty() && below != "." && *below.begin() != "..") return {root, below};
    }
    return {file.has_parent_path() ? file.parent_path() : fs::path("."), file.filename()};
  }
};

SourceFiles::SourceFiles(std::vector<fs::path> roots, bool follow_links)
    : kept_(new Kept{std::move(roots), follow_links}) {}

Result<SourceFiles::Text> SourceFiles::read(const fs::path& file, FileKind kind) const {
  const fs::path path = in_full(file);
  const std::lock_guard lock(kept_->mutex);
  if (const auto known = kept_->files.find(path); known != kept_->files.end()) return known->second;
  const auto read_it = [&]() -> Result<Text> {
    const auto [root, below] = kept_->split(file);
    PASSNET_TRY(std::string bytes, kept_->follow_links ? read_file(file, kind) : read_beneath(root, below, kind));
    if (kept_->bytes + bytes.size() > kMostBytes)
      return bad_input("the files that are read with this one are too large: found more than " +
                           std::to_string(kMostBytes) + " bytes together",
                       SourceLoc{file.string()});
    kept_->bytes += bytes.size();
    return std::make_shared<const std::string>(std::move(bytes));
  };
  return kept_->files.emplace(path, read_it()).first->second;
}

}  // namespace passnet
