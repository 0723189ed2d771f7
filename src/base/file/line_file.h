// A file of lines that grows while others finish: one writer, whole lines, nothing finished is lost.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file/file.h"
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

  /// Appends a line, or several with '\n' between them, and syncs once. Errors: Io (full disk: the file is cut back to
  /// what it was).
  Result<void> append(std::string_view lines);

 private:
  UniqueFd fd_;
  std::filesystem::path path_;
  std::string kept_;
};

}  // namespace passnet
