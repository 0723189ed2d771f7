// Files that others wrote: regular, bounded, reached through no link, and each read once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet {

/// Keeps what is read: a file has the same bytes, or the same error, however often it is asked for. Copies share what
/// they keep. Any thread may read.
class SourceFiles {
 public:
  using Text = std::shared_ptr<const std::string>;

  /// Together the files may have this many bytes.
  static constexpr size_t kMostBytes = size_t{256} << 20;

  /// roots: directories that others wrote, each reached in any way; nothing below one is reached through a link. The
  ///        directory of a file that is below none of them is its root.
  /// follow_links: for selftest, to see what holds where links are followed.
  explicit SourceFiles(std::vector<std::filesystem::path> roots = {}, bool follow_links = false);

  /// Errors: as read_beneath(); BadInput at the file: all files together are too large.
  Result<Text> read(const std::filesystem::path& file, FileKind kind) const;

 private:
  struct Kept;
  std::shared_ptr<Kept> kept_;
};

}  // namespace passnet
