// A file of lines that grows while others finish: one writer, whole lines, nothing finished is lost.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace passnet {

class LineFile {
 public:
  /// Opens for appending with an exclusive lock, and makes missing parent directories. keep: go on after what
  /// is there, a torn last line is cut off; else start empty. Errors: Resource (another run holds the lock),
  /// Io.
  static Result<LineFile> open(const std::filesystem::path& path, bool keep);

  /// The lines that were there when it was opened, each with its end.
  const std::string& kept() const { return kept_; }

  /// Appends a line and syncs it. Errors: Io (full disk: the file is cut back to its last whole line).
  Result<void> append(std::string_view line);

 private:
  UniqueFd fd_;
  std::filesystem::path path_;
  std::string kept_;
};

}  // namespace passnet
